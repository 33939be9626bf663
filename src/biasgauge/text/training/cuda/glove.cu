// GloVe: `pass_over` of training/glove.py, one block a replicate.
//
// Cells that share no word can be visited together and change nothing for each other: warp 0 puts up to CELLS of them,
// in their order, into a batch, AHEAD batches before its turn, which ends before the first cell that needs a row of it.
// Warp 1 fetches the rows that are not there one batch later, and adds up the cost, cell by cell; the rest compute. Rows
// stay while a later batch needs them. What warp 0 does sets the pace of a replicate: it does nothing that others can.

const int BIAS = 2 * WIDTH, ROW = (2 * WIDTH + 2 + 15) / 16 * 16;
const int SIDES = 2 * CELLS, SLOTS = (AHEAD + 1) * SIDES;
const int WORKERS = THREADS - 64, GROUPS = WORKERS / 8;
static_assert(AHEAD > 1, "rows are fetched a batch after they were read");

struct __align__(16) Cell
{
    int row, column;
    float log, weight;
};

struct Model
{
    float* weights;
    const Cell* cells;
    i64 first, last;  // cells of this launch
    double cost;
    u64 first_state;
    i64 rows;
    float eta;
    int unused;
};

struct Batch
{
    int count;  // 0: the cells have ended
    int at[SIDES];  // where the row of a cell's word, then that of its context, begins
    float log[CELLS], weight[CELLS];
};

struct Missing
{
    int count;
    int row[SIDES], at[SIDES];  // rows to be fetched, and where they go
};

struct Shared
{
    Batch batches[AHEAD + 1];
    Missing missing[2];  // by turns: of the batch read last, and of the one before it, which is being fetched
    float* leaves_to[2][SIDES];  // by turns: where a row goes that nobody read ahead needs; else null
    float slopes[CELLS];
    double costs[2][CELLS];
    __align__(16) float rows[SLOTS * ROW];
};

extern "C" __device__ int shared_bytes = sizeof(Shared);

__device__ __forceinline__ int following(int batch) { return batch == AHEAD ? 0 : batch + 1; }

struct Producer
{
    Account<SLOTS> account;
    const Cell* cells;
    i64 next, last;
    Cell mine, coming;  // of the 32 cells around `next`, and of the 32 after them, the one of this lane

    __device__ void open(const Model& model, int lane)
    {
        account.clear();
        cells = model.cells + model.first;
        next = 0;
        last = model.last - model.first;
        look(mine, lane);
        look(coming, 32 + lane);
    }

    __device__ void look(Cell& cell, i64 place)
    {
        if (place < last) cell = cells[place];
    }

    // Lanes 2 n and 2 n + 1 look after the word and the context of the n-th of the next cells.
    __device__ void prepare(Batch& batch, Missing& missing, int lane)
    {
        const int from = (int)(next & 31) + lane / 2;
        const bool near = from < 32, there = lane < SIDES && next + lane / 2 < last;
        Cell cell;
        cell.row = chosen(mine.row, coming.row, from, near);
        cell.column = chosen(mine.column, coming.column, from, near);
        cell.log = chosen(mine.log, coming.log, from, near);
        cell.weight = chosen(mine.weight, coming.weight, from, near);
        const int wanted = lane & 1 ? cell.column : cell.row;
        const u32 same = __match_any_sync(ALL, there ? wanted : -1 - lane);
        const u32 stops = __ballot_sync(ALL, !there || (same & ((1u << lane) - 1)));
        const int count = stops ? (__ffs(stops) - 1) / 2 : SIDES / 2;
        u32 fresh;
        const int place = account.template enter<SIDES>(wanted, lane < 2 * count, lane, fresh) * ROW;
        if (fresh >> lane & 1) {
            const int before = __popc(fresh & ((1u << lane) - 1));
            missing.row[before] = wanted;
            missing.at[before] = place;
        }
        if (lane == 0) missing.count = __popc(fresh);
        if (lane < 2 * count) {
            batch.at[lane] = place;
            if (lane & 1) {
                batch.log[lane / 2] = cell.log;
            } else {
                batch.weight[lane / 2] = cell.weight;
            }
        }
        if (lane == 0) batch.count = count;
        if ((int)(next & 31) + count >= 32) {
            mine = coming;
            look(coming, ((next >> 5) + 2) * 32 + lane);
        }
        next += count;
        __syncwarp();
    }

    template <class T> __device__ __forceinline__ T chosen(T now, T later, int from, bool near)
    {
        const T one = __shfl_sync(ALL, now, from & 31), two = __shfl_sync(ALL, later, from & 31);
        return near ? one : two;
    }

    // Say where the rows go that nobody read ahead needs after this batch, in which no row occurs twice.
    __device__ void dismiss(Shared& shared, const Model& model, const Batch& batch, float** leaves_to, int lane)
    {
        account.wake();
        const int sides = 2 * batch.count;
        int side_of[Account<SLOTS>::PER_LANE];
        for (int side = 0; side < sides; side++) {
            const int slot = batch.at[side] / ROW;
            account.leave(slot, lane);
#pragma unroll
            for (int part = 0; part < Account<SLOTS>::PER_LANE; part++) if (32 * part + lane == slot) side_of[part] = side;
        }
        for (int side = lane; side < sides; side += 32) leaves_to[side] = 0;
        __syncwarp();
#pragma unroll
        for (int part = 0; part < Account<SLOTS>::PER_LANE; part++) {
            account.rest(part);
            if (account.resting[part]) leaves_to[side_of[part]] = model.weights + (i64)account.row[part] * ROW;
        }
        __syncwarp();
    }
};

// How far each product is off, and the biases, which belong to nobody else.
__device__ void find_slopes(Shared& shared, const Batch& batch, double* costs, int worker)
{
    const int lane = worker % 8;
    for (int start = worker / 32 * 4; start < batch.count; start += GROUPS) {
        const int cell = start + worker % 32 / 8;
        const bool busy = cell < batch.count;
        const int chosen = busy ? cell : start;
        float* const word = shared.rows + batch.at[2 * chosen];
        float* const context = shared.rows + batch.at[2 * chosen + 1];
        const float biases = add(add(word[BIAS], context[BIAS]), -batch.log[chosen]);
        const float off = add(total_of_lanes(lane_sum(word, context, lane)), biases);
        const float slope = times(batch.weight[chosen], off);
        __syncwarp();
        if (busy && lane < 2) {
            float* const own = lane ? context : word;
            own[BIAS] = add(own[BIAS], -__fdiv_rn(slope, __fsqrt_rn(add(1.0f, own[BIAS + 1]))));
            own[BIAS + 1] = add(own[BIAS + 1], times(slope, slope));
        }
        if (busy && lane == 2) {
            shared.slopes[cell] = slope;
            costs[cell] = __dmul_rn(__dmul_rn(0.5, (double)slope), (double)off);
        }
    }
}

// One AdaGrad step of a number: it moves by its gradient over the root of 1 plus the sum of squares.
__device__ __forceinline__ void step_of(float& own, float& squares, float other, float slope, float eta)
{
    float gradient = times(slope, other);
    gradient = gradient < -100.0f ? -100.0f : gradient;
    gradient = gradient > 100.0f ? 100.0f : gradient;
    gradient = times(gradient, eta);
    own = add(own, -__fdiv_rn(gradient, __fsqrt_rn(add(1.0f, squares))));
    squares = add(squares, times(gradient, gradient));
}

__device__ __forceinline__ void step_of_four(float4& own, float4& squares, float4 other, float slope, float eta)
{
    step_of(own.x, squares.x, other.x, slope, eta);
    step_of(own.y, squares.y, other.y, slope, eta);
    step_of(own.z, squares.z, other.z, slope, eta);
    step_of(own.w, squares.w, other.w, slope, eta);
}

__device__ __forceinline__ void put(float* here, float* away, int column, float4 vector, float4 squares)
{
    *(float4*)(here + column) = vector;
    *(float4*)(here + WIDTH + column) = squares;
    if (away) {
        *(float4*)(away + column) = vector;
        *(float4*)(away + WIDTH + column) = squares;
    }
}

__device__ void update_rows(Shared& shared, const Batch& batch, float* const* leaves_to, float eta, int worker)
{
    // Numbers that only fill up a row stay zero; a division of zeros would take the slow path.
    const int quarters = (DIM > WHOLE ? (DIM + 3) / 4 : WIDTH / 4);
    for (int task = worker; task < batch.count * quarters; task += WORKERS) {
        const int cell = task / quarters, column = task % quarters * 4;
        float* const word = shared.rows + batch.at[2 * cell];
        float* const context = shared.rows + batch.at[2 * cell + 1];
        const float slope = shared.slopes[cell];
        float4 a = *(float4*)(word + column), b = *(float4*)(context + column);
        float4 of_a = *(float4*)(word + WIDTH + column), of_b = *(float4*)(context + WIDTH + column);
        const float4 before = a;
        step_of_four(a, of_a, b, slope, eta);
        step_of_four(b, of_b, before, slope, eta);
        put(word, leaves_to[2 * cell], column, a, of_a);
        put(context, leaves_to[2 * cell + 1], column, b, of_b);
    }
    for (int side = worker; side < 2 * batch.count; side += WORKERS) {
        float* const away = leaves_to[side];
        if (away) *(float2*)(away + BIAS) = *(float2*)(shared.rows + batch.at[side] + BIAS);
    }
}

__device__ void fetch(Shared& shared, const Model& model, const Missing& missing, int lane)
{
    const int count = missing.count;
    const int row = lane < count ? missing.row[lane] : 0, at = lane < count ? missing.at[lane] : 0;
#pragma unroll 4
    for (int n = 0; n < count; n++) {
        const int from = __shfl_sync(ALL, row, n), to = __shfl_sync(ALL, at, n);
        fetch_row(shared.rows + to, model.weights + (i64)from * ROW, ROW, lane);
    }
}

__device__ void read_ahead(Shared& shared, Model& model, int lane)
{
    Producer producer;
    producer.open(model, lane);
    for (int n = 0; n < AHEAD; n++) {
        producer.prepare(shared.batches[n], shared.missing[0], lane);
        if (n < AHEAD - 1) fetch(shared, model, shared.missing[0], lane);
        __syncwarp();
    }
    producer.dismiss(shared, model, shared.batches[0], shared.leaves_to[0], lane);
    end_group();
    wait_for_groups<0>();
    __syncthreads();
    for (int now = 0, next = AHEAD, side = 1; shared.batches[now].count; next = following(next), side ^= 1) {
        producer.prepare(shared.batches[next], shared.missing[side], lane);
        now = following(now);
        producer.dismiss(shared, model, shared.batches[now], shared.leaves_to[side], lane);
        __syncthreads();
    }
}

__device__ void fetch_and_sum(Shared& shared, Model& model, int lane)
{
    double cost = model.cost;
    int summed = 0;
    __syncthreads();
    for (int now = 0, side = 0;; now = following(now), side ^= 1) {
        fetch(shared, model, shared.missing[side], lane);
        end_group();
        for (int n = 0; n < summed; n++) cost = __dadd_rn(cost, shared.costs[side ^ 1][n]);
        summed = shared.batches[now].count;
        if (summed == 0) break;
        wait_for_groups<AHEAD - 2>();
        __syncthreads();
    }
    if (lane == 0) model.cost = cost;
}

__device__ void compute(Shared& shared, const Model& model, int worker)
{
    const float eta = model.eta;
    __syncthreads();
    for (int now = 0, side = 0; shared.batches[now].count; now = following(now), side ^= 1) {
        find_slopes(shared, shared.batches[now], shared.costs[side], worker);
        meet(WORKERS);
        update_rows(shared, shared.batches[now], shared.leaves_to[side], eta, worker);
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) glove(const void*, Model* models, const void*)
{
    extern __shared__ float4 memory[];
    Shared& shared = *(Shared*)memory;
    Model& model = models[blockIdx.x];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 0) {
        read_ahead(shared, model, lane);
    } else if (warp == 1) {
        fetch_and_sum(shared, model, lane);
    } else {
        compute(shared, model, threadIdx.x - 64);
    }
}

// First vectors and biases, as `first_weights` makes them: all vectors, then all biases, from one stream.
extern "C" __global__ void fill_first_vectors(const void*, Model* models, const void*)
{
    Model& model = models[blockIdx.y];
    const double width = __ddiv_rn(1.0, (double)DIM);
    for (i64 row = blockIdx.x; row < model.rows; row += gridDim.x) {
        for (int column = threadIdx.x; column <= DIM; column += blockDim.x) {
            const i64 place = column < DIM ? row * DIM + column : model.rows * DIM + row;
            const double share = __ddiv_rn((double)(number(model.first_state, (u64)(place + 1)) >> 11), 9007199254740992.0);
            const float value = (float)__dmul_rn(__dsub_rn(share, 0.5), width);
            model.weights[row * ROW + (column < DIM ? stored_at(column) : BIAS)] = value;
        }
    }
}
