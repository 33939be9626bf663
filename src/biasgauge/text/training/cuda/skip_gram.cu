// Skip-gram with negative sampling: `_skip_gram` of training/word2vec.py, one block a replicate.
//
// WINDOW, NEGATIVE: the settings. Rows of the words around stay in shared memory while the window passes over them; rows
// to predict with are fetched AHEAD windows before their turn. Two words that are the same share a row, so that an
// update is seen by whoever comes after it, as on the CPU.
//
// Warp 0 reads, warp 1 adds up the loss (in the CPU's order, one after the other), the rest compute: first the products
// of the window's words with those to predict, eight lanes for two products; then each thread its own VECTOR columns.

const int GUESSES = NEGATIVE + 1, AROUND = 2 * WINDOW;
const int INPUT_SLOTS = 2 * WINDOW + 1 + AHEAD, OUTPUT_SLOTS = (AHEAD + 1) * GUESSES;
const int GUESSES_4 = (GUESSES + 3) / 4 * 4, AROUND_4 = (AROUND + 3) / 4 * 4;
const int WORKERS = THREADS - 64, GROUPS = WORKERS / 8;
const int LEAVERS = GUESSES + AROUND + 2;

struct Window
{
    int guessed, near, leaving;  // `guessed` 0: the text has ended
    float rate;
    u32 guess_again, near_again;  // bit n: the n-th has the row of one before it
    int guess[GUESSES], around[AROUND];  // where their rows begin, in numbers
};

struct Shared
{
    Window windows[AHEAD + 1];
    int slot_of[INPUT_SLOTS];  // by running number of a kept word
    int leavers[2], leaver[2][LEAVERS];  // by turns: of the window that is computed, and of the one after it
    float* leaves_to[2][LEAVERS];
    __align__(16) float by_guess[GUESSES * AROUND_4];
    __align__(16) float by_near[AROUND * GUESSES_4];
    float losses[2][GUESSES * AROUND];
    __align__(16) float rows[(INPUT_SLOTS + OUTPUT_SLOTS) * WIDTH];
};

extern "C" __device__ int shared_bytes = sizeof(Shared);

__device__ __forceinline__ int following(int window) { return window == AHEAD ? 0 : window + 1; }

struct Producer
{
    Reader reader;
    Account<INPUT_SLOTS> inputs;
    Account<OUTPUT_SLOTS> outputs;
    u64 base;       // the stream when the piece had been read
    int middle;     // of the next window
    int entered;    // words of the piece whose rows were asked for
    int piece;      // running number of the piece's first word
    int next_left;  // running number of the next word to leave
    int next_entry;  // the word that enters next
    // Of the next window, in lane 0 its word, in the others what decides a word drawn against it.
    int own, other;
    u32 low;
    u64 keep;

    __device__ void open(const Model& model)
    {
        reader.open(model);
        inputs.clear();
        outputs.clear();
        own = other = -1, low = 0, keep = 0;
        middle = entered = piece = next_left = 0;
    }

    // Write down one window and ask for its rows; all lanes take part.
    __device__ void prepare(Shared& shared, const Model& model, Window& window, int lane)
    {
        while (middle >= reader.count) {
            piece += reader.count;
            reader.count = middle = entered = 0;
            if (!reader.next_piece(lane)) {
                if (lane == 0) window.guessed = window.near = window.leaving = 0;
                __syncwarp();
                return;
            }
            base = reader.state;
            if (reader.count == 1) reader.count = 0, reader.state += GOLDEN;  // a width was drawn, for nothing around
            reader.state += GOLDEN * (u64)(reader.count * GUESSES);
            if (reader.count) {
                look_ahead(lane);
                next_entry = reader.kept[0];
            }
        }
        const int count = reader.count;
        const int word = lane && low >= keep ? other : own;
        const int center = __shfl_sync(ALL, word, 0);
        const bool wants = lane == 0 || (lane <= NEGATIVE && word != center);
        const u32 valid = __ballot_sync(ALL, wants), before = (1u << lane) - 1;
        const u64 after = (u64)middle * GUESSES + NEGATIVE + (middle + 1 < count ? NEGATIVE + 1 : 1);
        const int width = 1 + (int)below(number(base, after), WINDOW);
        const int now = middle, guessed = __popc(valid);
        middle++;
        if (middle < count) look_ahead(lane);

        u32 fresh;
        const int own_guess = (INPUT_SLOTS + outputs.template enter<GUESSES>(word, wants, lane, fresh)) * WIDTH;
        for (u32 left = fresh; left; left &= left - 1) {
            const int from = __ffs(left) - 1;
            const int row = __shfl_sync(ALL, word, from), place = __shfl_sync(ALL, own_guess, from);
            fetch_row(shared.rows + place, model.outputs + (i64)row * WIDTH, WIDTH, lane);
        }
        const int reach = now + WINDOW < count - 1 ? now + WINDOW : count - 1;
        while (entered <= reach) {
            const int row = next_entry;
            const int slot = inputs.template enter<1>(row, lane == 0, lane, fresh);
            const int place = __shfl_sync(ALL, slot, 0);
            if (fresh) fetch_row(shared.rows + place * WIDTH, model.inputs + (i64)row * WIDTH, WIDTH, lane);
            if (lane == 0) shared.slot_of[(piece + entered) % INPUT_SLOTS] = slot;
            if (++entered < count) next_entry = reader.kept[entered];
        }
        __syncwarp();
        const int first = now - width > 0 ? now - width : 0;
        const int last = now + width < count - 1 ? now + width : count - 1;
        const int near = last - first;
        int own_near = -1 - lane;
        if (lane < near) {
            const int place = first + lane + (first + lane >= now);
            own_near = shared.slot_of[(piece + place) % INPUT_SLOTS] * WIDTH;
        }
        const int rank = __popc(valid & before);
        const u32 same_guess = __match_any_sync(ALL, wants ? own_guess : -1 - lane);
        const u32 same_near = __match_any_sync(ALL, own_near);
        const u32 again = __ballot_sync(ALL, wants && (same_guess & before));
        const u32 near_again = __ballot_sync(ALL, lane < near && (same_near & before));
        if (wants) window.guess[rank] = own_guess;
        if (lane < near) window.around[lane] = own_near;
        // Void draws leave gaps in `again`, which the numbers of guesses do not have.
        u32 guess_again = 0;
        for (u32 left = again; left; left &= left - 1) guess_again |= 1u << __shfl_sync(ALL, rank, __ffs(left) - 1);
        if (lane == 0) {
            window.guessed = guessed;
            window.near = near;
            window.rate = reader.rate;
            window.guess_again = guess_again;
            window.near_again = near_again;
            window.leaving = now == count - 1 ? count - (now > WINDOW ? now - WINDOW : 0) : now >= WINDOW;
        }
        __syncwarp();
    }

    // Ask for what decides the words of the window around `middle`, long before it is needed.
    __device__ __forceinline__ void look_ahead(int lane)
    {
        if (lane == 0) own = reader.kept[middle];
        if (lane > 0 && lane <= NEGATIVE) {
            const u64 bits = number(base, (middle ? (u64)middle * GUESSES - 1 : 0) + lane);
            own = (int)below(bits, reader.text->words);
            low = (u32)bits;
            keep = reader.text->negative_keep[own];
            other = (int)reader.text->negative_other[own];
        }
    }

    // List the rows that nobody read ahead needs after this window.
    __device__ void dismiss(Shared& shared, const Model& model, const Window& window, int side, int lane)
    {
        outputs.wake();
        inputs.wake();
        const int guessed = window.guessed, leaving = window.leaving;
        for (int guess = 0; guess < guessed; guess++) outputs.leave(window.guess[guess] / WIDTH - INPUT_SLOTS, lane);
        for (int n = 0; n < leaving; n++, next_left++) inputs.leave(shared.slot_of[next_left % INPUT_SLOTS], lane);
        int leavers = 0;
        list(shared, outputs, model.outputs, INPUT_SLOTS, side, leavers, lane);
        list(shared, inputs, model.inputs, 0, side, leavers, lane);
        if (lane == 0) shared.leavers[side] = leavers;
        __syncwarp();
    }

    template <int SLOTS> __device__ __forceinline__ void list(
        Shared& shared, Account<SLOTS>& account, float* rows, int first_slot, int side, int& leavers, int lane)
    {
#pragma unroll
        for (int part = 0; part < Account<SLOTS>::PER_LANE; part++) {
            const u32 resting = account.rest(part);
            if (resting >> lane & 1) {
                const int place = leavers + __popc(resting & ((1u << lane) - 1));
                shared.leaver[side][place] = (first_slot + 32 * part + lane) * WIDTH;
                shared.leaves_to[side][place] = rows + (i64)account.row[part] * WIDTH;
            }
            leavers += __popc(resting);
        }
    }
};

// Two products by eight lanes: a word to predict with two words around it.
__device__ __forceinline__ void two_sums(const float* a, const float* b, const float* c, int lane, float& ab, float& ac)
{
    ab = ac = 0.0f;
#pragma unroll
    for (int block = 0; block < WHOLE; block += 32) {
        const float4 x = *(const float4*)(a + block + 4 * lane);
        const float4 y = *(const float4*)(b + block + 4 * lane);
        const float4 z = *(const float4*)(c + block + 4 * lane);
        ab = add(ab, times(x.x, y.x)), ac = add(ac, times(x.x, z.x));
        ab = add(ab, times(x.y, y.y)), ac = add(ac, times(x.y, z.y));
        ab = add(ab, times(x.z, y.z)), ac = add(ac, times(x.z, z.z));
        ab = add(ab, times(x.w, y.w)), ac = add(ac, times(x.w, z.w));
    }
#pragma unroll
    for (int block = WHOLE; block < WIDTH; block += 8) {
        ab = add(ab, times(a[block + lane], b[block + lane]));
        ac = add(ac, times(a[block + lane], c[block + lane]));
    }
}

// Products, and from them the steps; the sums of a group of eight lanes meet by shuffles, so all groups of a warp go on
// together until the last has nothing left.
__device__ void find_steps(Shared& shared, const Window& window, float* losses, const float* tables, int worker)
{
    const int lane = worker % 8, guessed = window.guessed, near = window.near, pairs = (near + 1) / 2 * guessed;
    const int first_of_warp = worker / 32 * 4;
    for (int start = first_of_warp; start < pairs; start += GROUPS) {
        const int pair = start + worker % 32 / 8;
        const bool busy = pair < pairs;
        const int other = busy ? pair / guessed * 2 : 0, guess = busy ? pair % guessed : 0;
        const bool both = other + 1 < near;
        float one, two;
        two_sums(
            shared.rows + window.guess[guess], shared.rows + window.around[other],
            shared.rows + window.around[both ? other + 1 : other], lane, one, two);
        one = total_of_lanes(one);
        two = total_of_lanes(two);
        if (busy && (lane == 0 || (lane == 1 && both))) {
            float loss;
            const int place = other + lane;
            const float step = times(window.rate, slope_of(lane ? two : one, guess == 0, tables, loss));
            shared.by_guess[guess * AROUND_4 + place] = step;
            shared.by_near[place * GUESSES_4 + guess] = step;
            losses[guess * near + place] = loss;
        }
    }
}

struct Columns
{
    float of[VECTOR];

    __device__ __forceinline__ void load(const float* from)
    {
#if VECTOR == 4
        const float4 v = *(const float4*)from;
        of[0] = v.x, of[1] = v.y, of[2] = v.z, of[3] = v.w;
#elif VECTOR == 2
        const float2 v = *(const float2*)from;
        of[0] = v.x, of[1] = v.y;
#else
        of[0] = *from;
#endif
    }

    __device__ __forceinline__ void store(float* to) const
    {
#if VECTOR == 4
        *(float4*)to = make_float4(of[0], of[1], of[2], of[3]);
#elif VECTOR == 2
        *(float2*)to = make_float2(of[0], of[1]);
#else
        *to = of[0];
#endif
    }

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int n = 0; n < VECTOR; n++) of[n] = 0.0f;
    }

    __device__ __forceinline__ void add(const Columns& other)
    {
#pragma unroll
        for (int n = 0; n < VECTOR; n++) of[n] = ::add(of[n], other.of[n]);
    }

    __device__ __forceinline__ void add_times(float factor, const Columns& other)
    {
#pragma unroll
        for (int n = 0; n < VECTOR; n++) of[n] = ::add(of[n], times(factor, other.of[n]));
    }
};

// Some columns of all rows of a window: first the words to predict, from those around; then those around.
__device__ __forceinline__ void update_columns(Shared& shared, const Window& window, int column)
{
    const int guessed = window.guessed, near = window.near;
    const u32 guess_again = window.guess_again, near_again = window.near_again;
    float* const rows = shared.rows + column;
    int guess_at[GUESSES], near_at[AROUND];
    Columns around[AROUND], guess[GUESSES], sums[GUESSES];
#pragma unroll
    for (int n = 0; n < GUESSES; n++) if (n < guessed) guess[n].load(rows + (guess_at[n] = window.guess[n]));
#pragma unroll
    for (int o = 0; o < AROUND; o++) if (o < near) around[o].load(rows + (near_at[o] = window.around[o]));
#pragma unroll
    for (int n = 0; n < GUESSES; n++) {
        if (n < guessed) {
            sums[n] = guess[n];
            if (guess_again >> n & 1) {
#pragma unroll
                for (int m = 0; m < n; m++) if (guess_at[m] == guess_at[n]) sums[n] = sums[m];
            }
#pragma unroll
            for (int o = 0; o < AROUND; o += 4) {
                if (o < near) {
                    const float4 step = *(const float4*)(shared.by_guess + n * AROUND_4 + o);
                    sums[n].add_times(step.x, around[o]);
                    if (o + 1 < AROUND && o + 1 < near) sums[n].add_times(step.y, around[o + 1 < AROUND ? o + 1 : 0]);
                    if (o + 2 < AROUND && o + 2 < near) sums[n].add_times(step.z, around[o + 2 < AROUND ? o + 2 : 0]);
                    if (o + 3 < AROUND && o + 3 < near) sums[n].add_times(step.w, around[o + 3 < AROUND ? o + 3 : 0]);
                }
            }
        }
    }
#pragma unroll
    for (int o = 0; o < AROUND; o++) {
        if (o < near) {
            Columns change;
            change.clear();
#pragma unroll
            for (int n = 0; n < GUESSES; n += 4) {
                if (n < guessed) {
                    const float4 step = *(const float4*)(shared.by_near + o * GUESSES_4 + n);
                    change.add_times(step.x, guess[n]);
                    if (n + 1 < GUESSES && n + 1 < guessed) change.add_times(step.y, guess[n + 1 < GUESSES ? n + 1 : 0]);
                    if (n + 2 < GUESSES && n + 2 < guessed) change.add_times(step.z, guess[n + 2 < GUESSES ? n + 2 : 0]);
                    if (n + 3 < GUESSES && n + 3 < guessed) change.add_times(step.w, guess[n + 3 < GUESSES ? n + 3 : 0]);
                }
            }
            if (near_again >> o & 1) {
#pragma unroll
                for (int m = 0; m < o; m++) if (near_at[m] == near_at[o]) around[o] = around[m];
            }
            around[o].add(change);
        }
    }
    // Of several that share a row, the last one's has the changes of all.
#pragma unroll
    for (int n = 0; n < GUESSES; n++) if (n < guessed) sums[n].store(rows + guess_at[n]);
#pragma unroll
    for (int o = 0; o < AROUND; o++) if (o < near) around[o].store(rows + near_at[o]);
}

// The three parts of a block, each a loop of its own with the same barrier after each window.
//
// While window t is computed, warp 0 prepares window t + AHEAD and lists who leaves after window t + 1; it never waits
// for the two halves of a window.
__device__ void read_ahead(Shared& shared, Model& model, int lane)
{
    Producer producer;
    producer.open(model);
    for (int n = 0; n < AHEAD; n++) {
        producer.prepare(shared, model, shared.windows[n], lane);
        end_group();
    }
    producer.dismiss(shared, model, shared.windows[0], 0, lane);
    wait_for_groups<AHEAD - 1>();
    __syncthreads();
    for (int now = 0, next = AHEAD, side = 1; shared.windows[now].guessed; next = following(next), side ^= 1) {
        producer.prepare(shared, model, shared.windows[next], lane);
        end_group();
        now = following(now);
        producer.dismiss(shared, model, shared.windows[now], side, lane);
        wait_for_groups<AHEAD - 1>();
        __syncthreads();
    }
    producer.reader.close(model, lane);
}

// The loss of a window is added up during the next one, by one thread.
__device__ void sum_losses(Shared& shared, Model& model, int lane)
{
    double loss = model.loss, pairs = model.pairs;
    int summed = 0;
    __syncthreads();
    for (int now = 0, side = 0;; now = following(now), side ^= 1) {
        const Window& window = shared.windows[now];
        if (lane == 0) {
            for (int n = 0; n < summed; n++) loss = __dadd_rn(loss, (double)shared.losses[side ^ 1][n]);
            pairs = __dadd_rn(pairs, (double)summed);
        }
        if (window.guessed == 0) break;
        summed = window.guessed * window.near;
        __syncthreads();
    }
    if (lane == 0) {
        model.loss = loss;
        model.pairs = pairs;
    }
}

__device__ void compute(Shared& shared, const float* tables, int worker)
{
    __syncthreads();
    for (int now = 0, side = 0; shared.windows[now].guessed; now = following(now), side ^= 1) {
        const Window& window = shared.windows[now];
        find_steps(shared, window, shared.losses[side], tables, worker);
        meet(WORKERS);
        for (int column = worker * VECTOR; column < WIDTH; column += WORKERS * VECTOR) {
            update_columns(shared, window, column);
            for (int n = 0; n < shared.leavers[side]; n++) {
                Columns leaving;
                leaving.load(shared.rows + shared.leaver[side][n] + column);
                leaving.store(shared.leaves_to[side][n] + column);
            }
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) skip_gram(const void*, Model* models, const float* tables)
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
        compute(shared, tables, threadIdx.x - 64);
    }
}
