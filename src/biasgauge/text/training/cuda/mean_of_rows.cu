// CBOW and fastText: `_cbow` and `_fasttext` of training/word2vec.py, one block a replicate.
//
// WINDOW, NEGATIVE: the settings; SUBWORDS: 0 for CBOW (the mean of the words around predicts), 1 for fastText (the mean
// of a word and its n-grams predicts each word around). Rows stay in the device's memory: each thread reads and writes
// columns of its own, so only products need the threads to wait for each other. Warp 0 is a window ahead and asks for the
// rows of the next one, warp 1 adds up the loss, the rest compute.

const int AROUND = 2 * WINDOW, GUESSES = SUBWORDS ? AROUND * (NEGATIVE + 1) : NEGATIVE + 1;
const int WORKERS = THREADS - 64, GROUPS = WORKERS / 8;

struct Window
{
    int guessed, members;  // `guessed` 0: the text has ended
    float rate;
    const int* member;  // rows whose mean predicts
    int around[AROUND], guess[GUESSES], goal[GUESSES];
};

struct Shared
{
    Window windows[2];
    float steps[GUESSES], losses[2][GUESSES];
    int drawn[AROUND * NEGATIVE];
    __align__(16) float mean[WIDTH];
};

extern "C" __device__ int shared_bytes = sizeof(Shared);

struct Producer
{
    Reader reader;
    u64 base;
    int middle;

    __device__ void prepare(Shared& shared, const Model& model, Window& window, int lane)
    {
        const Text* text = reader.text;
        int near = 0, guessed = 0;
        while (near == 0) {
            while (middle >= reader.count) {
                middle = 0;
                if (!reader.next_piece(lane)) {
                    reader.count = 0;
                    if (lane == 0) window.guessed = 0;
                    __syncwarp();
                    return;
                }
            }
            // CBOW draws its negatives before the width, fastText after it, for each word around.
            base = reader.state;
            const int width = 1 + (int)below(number(base, SUBWORDS ? 1 : NEGATIVE + 1), WINDOW);
            const int first = middle - width > 0 ? middle - width : 0;
            const int last = middle + width < reader.count - 1 ? middle + width : reader.count - 1;
            near = last - first;
            for (int n = lane; n < near; n += 32) window.around[n] = reader.kept[first + n + (first + n >= middle)];
            reader.state += GOLDEN * (u64)(SUBWORDS ? 1 + near * NEGATIVE : NEGATIVE + 1);
            middle++;
        }
        const int center = reader.kept[middle - 1], draws = SUBWORDS ? near * NEGATIVE : NEGATIVE;
        for (int n = lane; n < draws; n += 32) shared.drawn[n] = drawn_word(text, number(base, n + 1 + SUBWORDS));
        __syncwarp();
        for (int other = 0; other < (SUBWORDS ? near : 1); other++) {
            const int truth = SUBWORDS ? window.around[other] : center;
            if (lane == 0) {
                window.guess[guessed] = truth;
                window.goal[guessed] = 1;
            }
            guessed++;
            for (int n = 0; n < NEGATIVE; n += 32) {
                const int word = n + lane < NEGATIVE ? shared.drawn[other * NEGATIVE + n + lane] : truth;
                const u32 valid = __ballot_sync(ALL, word != truth);
                const int place = guessed + __popc(valid & ((1u << lane) - 1));
                if (word != truth) {
                    window.guess[place] = word;
                    window.goal[place] = 0;
                }
                guessed += __popc(valid);
            }
        }
        const int* member = SUBWORDS ? text->parts + text->starts[center] : window.around;
        const int members = SUBWORDS ? (int)(text->starts[center + 1] - text->starts[center]) : near;
        __syncwarp();
        for (int n = 0; n < guessed + members; n++) {
            const float* row = n < guessed ? model.outputs + (i64)window.guess[n] * WIDTH
                                           : model.inputs + (i64)member[n - guessed] * WIDTH;
            for (int column = 32 * lane; column < WIDTH; column += 1024) ask_for(row + column);
        }
        if (lane == 0) {
            window.guessed = guessed;
            window.members = members;
            window.member = member;
            window.rate = reader.rate;
        }
        __syncwarp();
    }
};

__device__ void read_ahead(Shared& shared, Model& model, int lane)
{
    Producer producer;
    producer.reader.open(model);
    producer.middle = 0;
    producer.prepare(shared, model, shared.windows[0], lane);
    __syncthreads();
    __syncthreads();
    for (int now = 0; shared.windows[now].guessed; now ^= 1) {
        producer.prepare(shared, model, shared.windows[now ^ 1], lane);
        __syncthreads();
        __syncthreads();
    }
    producer.reader.close(model, lane);
}

__device__ void sum_losses(Shared& shared, Model& model, int lane)
{
    double loss = model.loss, pairs = model.pairs;
    int summed = 0;
    __syncthreads();
    __syncthreads();
    for (int now = 0;; now ^= 1) {
        if (lane == 0) {
            for (int n = 0; n < summed; n++) loss = __dadd_rn(loss, (double)shared.losses[now ^ 1][n]);
            pairs = __dadd_rn(pairs, (double)summed);
        }
        summed = shared.windows[now].guessed;
        if (summed == 0) break;
        __syncthreads();
        __syncthreads();
    }
    if (lane == 0) {
        model.loss = loss;
        model.pairs = pairs;
    }
}

__device__ void find_mean(Shared& shared, const Window& window, const Model& model, int worker)
{
    const float share = __fdiv_rn(1.0f, (float)window.members);
    for (int column = worker; column < WIDTH; column += WORKERS) {
        float sum = 0.0f;
#pragma unroll 8
        for (int n = 0; n < window.members; n++) {
            sum = add(sum, times(share, model.inputs[(i64)window.member[n] * WIDTH + column]));
        }
        shared.mean[column] = sum;
    }
}

__device__ void find_steps(Shared& shared, const Window& window, const Model& model, float* losses, const float* tables,
                           int worker)
{
    const int lane = worker % 8;
    for (int start = worker / 32 * 4; start < window.guessed; start += GROUPS) {
        const int guess = start + worker % 32 / 8;
        const bool busy = guess < window.guessed;
        const int chosen = busy ? guess : start;
        const float* row = model.outputs + (i64)window.guess[chosen] * WIDTH;
        const float product = total_of_lanes(lane_sum(shared.mean, row, lane));
        if (busy && lane == 0) {
            float loss;
            shared.steps[guess] = times(window.rate, slope_of(product, window.goal[guess], tables, loss));
            losses[guess] = loss;
        }
    }
}

__device__ void update_columns(Shared& shared, const Window& window, const Model& model, int worker)
{
    for (int column = worker; column < WIDTH; column += WORKERS) {
        float change = 0.0f;
        const float mean = shared.mean[column];
#pragma unroll 4
        for (int n = 0; n < window.guessed; n++) {
            change = add(change, times(shared.steps[n], model.outputs[(i64)window.guess[n] * WIDTH + column]));
        }
        for (int n = 0; n < window.guessed; n++) {
            float* const number = model.outputs + (i64)window.guess[n] * WIDTH + column;
            *number = add(*number, times(shared.steps[n], mean));
        }
        for (int n = 0; n < window.members; n++) {
            float* const number = model.inputs + (i64)window.member[n] * WIDTH + column;
            *number = add(*number, change);
        }
    }
}

// The mean of the next window is found right after the updates of this one: both are a thread's own columns.
__device__ void compute(Shared& shared, const Model& model, const float* tables, int worker)
{
    __syncthreads();
    if (shared.windows[0].guessed) find_mean(shared, shared.windows[0], model, worker);
    __syncthreads();
    for (int now = 0; shared.windows[now].guessed; now ^= 1) {
        const Window& window = shared.windows[now];
        find_steps(shared, window, model, shared.losses[now], tables, worker);
        __syncthreads();
        update_columns(shared, window, model, worker);
        if (shared.windows[now ^ 1].guessed) find_mean(shared, shared.windows[now ^ 1], model, worker);
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) mean_of_rows(const void*, Model* models, const float* tables)
{
    extern __shared__ float4 memory[];
    Shared& shared = *(Shared*)memory;
    Model& model = models[blockIdx.x];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 0) {
        read_ahead(shared, model, lane);
    } else if (warp == 1) {
        sum_losses(shared, model, lane);
    } else {
        compute(shared, model, tables, threadIdx.x - 64);
    }
}
