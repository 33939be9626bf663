// Reading text as training/negative_sampling.py does: lines, pieces of them, frequent words skipped at random.

const int LONGEST = 10000;

struct Text
{
    const u32* tokens;
    const i64* lines;
    const i64* order;
    const int* places;
    const u64* keep;
    const u64* negative_keep;
    const u32* negative_other;
    const i64* starts;  // fastText: where each word's parts begin
    const int* parts;   // fastText: the parts of all words
    i64 words;
};

struct Model
{
    const Text* text;
    float* inputs;
    float* outputs;
    int* kept;  // room for LONGEST words
    i64 first, last;  // lines of this launch
    u64 state;
    i64 done;
    double total, alpha, min_alpha, loss, pairs;
    u64 first_state;  // of the stream of first vectors
    i64 input_rows;
};

// What warp 0 knows of the line that it reads. All lanes hold the same.
struct Reader
{
    const Text* text;
    int* kept;
    i64 line, last, place, end;
    u64 state;
    i64 done;
    double total, alpha, min_alpha;
    float rate;
    int count;

    __device__ void open(const Model& model)
    {
        text = model.text;
        kept = model.kept;
        line = model.first;
        last = model.last;
        place = end = 0;
        state = model.state;
        done = model.done;
        total = model.total;
        alpha = model.alpha;
        min_alpha = model.min_alpha;
        count = 0;
    }

    // Words of the next piece of a line into `kept`; false at the end of the launch's text.
    __device__ bool next_piece(int lane)
    {
        while (place >= end) {
            if (line >= last) return false;
            const i64 chosen = text->order[line++];
            place = text->lines[chosen];
            end = text->lines[chosen + 1];
        }
        count = 0;
        while (place < end && count < LONGEST) {
            const i64 mine = place + lane;
            const int word = mine < end ? text->places[text->tokens[mine]] : -1;
            const u32 before = (1u << lane) - 1;
            u32 known = __ballot_sync(ALL, word >= 0);
            const bool stays =
                word >= 0 && (number(state, __popc(known & before) + 1) >> 32) < text->keep[word < 0 ? 0 : word];
            const u32 staying = __ballot_sync(ALL, stays);
            const int rank = count + __popc(staying & before);
            if (stays && rank < LONGEST) kept[rank] = word;
            i64 step = 32;
            if (count + __popc(staying) >= LONGEST) {  // the piece is full at the word of the last rank: stop behind it
                const u32 full = __ballot_sync(ALL, stays && rank == LONGEST - 1);
                step = __ffs(full);
                known &= step < 32 ? (1u << step) - 1 : ALL;
                count = LONGEST;
            } else {
                count += __popc(staying);
            }
            state += GOLDEN * (u64)__popc(known);
            done += __popc(known);
            place = place + step < end ? place + step : end;
        }
        const double share = __ddiv_rn((double)done, total);
        rate = (float)__dsub_rn(alpha, __dmul_rn(__dsub_rn(alpha, min_alpha), share < 1.0 ? share : 1.0));
        __syncwarp();
        return true;
    }

    __device__ void close(Model& model, int lane) const
    {
        if (lane) return;
        model.state = state;
        model.done = done;
    }
};

__device__ __forceinline__ int drawn_word(const Text* text, u64 bits)
{
    const u64 place = below(bits, text->words);
    return (bits & 0xffffffffull) >= text->negative_keep[place] ? (int)text->negative_other[place] : (int)place;
}

// How far the sigmoid of a product is from its goal; `tables` has 2,048 sigmoids, then 2,048 losses.
__device__ __forceinline__ float slope_of(float product, bool goal, const float* tables, float& loss)
{
    const float bounded = fminf(fmaxf(product, -7.999f), 7.999f);
    const int step = (int)times(add(bounded, 8.0f), 128.0f);
    loss = tables[2048 + (goal ? step : 2047 - step)];
    return goal ? add(1.0f, -tables[step]) : -tables[step];
}

// Random first vectors in ±1 / (2 dim), as `fill_uniform` makes them; padding and outputs were zeros already.
extern "C" __global__ void fill_first_vectors(const void*, Model* models, const void*)
{
    Model& model = models[blockIdx.y];
    const double width = __ddiv_rn(1.0, (double)DIM);
    for (i64 row = blockIdx.x; row < model.input_rows; row += gridDim.x) {
        for (int column = threadIdx.x; column < DIM; column += blockDim.x) {
            const u64 bits = number(model.first_state, (u64)(row * DIM + column + 1));
            const double share = __ddiv_rn((double)(bits >> 11), 9007199254740992.0);
            model.inputs[row * WIDTH + stored_at(column)] = (float)__dmul_rn(__dsub_rn(share, 0.5), width);
        }
    }
}
