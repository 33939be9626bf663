// What the kernels share: the random stream, rows in shared memory, sums in the order of the CPU loops.
//
// One block of threads trains one replicate, so nothing races. Arithmetic is that of training/lanes.py: eight running
// sums, no fused multiply-add, IEEE division and root. Warp 0 of a block reads the text (or the cells) some steps ahead
// of the others, fetches the rows that they will need, and says which rows are no longer needed; the rest compute.
//
// Constants come from the compiler's command line: WIDTH (numbers in a row, a multiple of eight), THREADS, AHEAD (how
// many steps the reading warp is ahead) and what each kernel names at its top.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

const u32 ALL = 0xffffffffu;
const u64 GOLDEN = 0x9E3779B97F4A7C15ull;

// SplitMix64 is a counter: the n-th number of a stream that stands at `state` needs no number before it.
__device__ __forceinline__ u64 number(u64 state, u64 n)
{
    u64 mixed = state + n * GOLDEN;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBull;
    return mixed ^ (mixed >> 31);
}

__device__ __forceinline__ u64 below(u64 bits, u64 bound) { return ((bits >> 32) * bound) >> 32; }

// Rows are stored so that the four numbers that a lane adds one after the other lie side by side: of each 32 numbers,
// number 8 k + lane is at 4 lane + k. What is left over at the end of a row keeps its order.
const int WHOLE = WIDTH / 32 * 32;

__device__ __forceinline__ int stored_at(int column)
{
    return column < WHOLE ? column / 32 * 32 + column % 8 * 4 + column % 32 / 8 : column;
}

__device__ __forceinline__ float add(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }

// The running sum of one of eight lanes over the products of two rows.
__device__ __forceinline__ float lane_sum(const float* a, const float* b, int lane)
{
    float sum = 0.0f;
#pragma unroll
    for (int block = 0; block < WHOLE; block += 32) {
        const float4 x = *(const float4*)(a + block + 4 * lane);
        const float4 y = *(const float4*)(b + block + 4 * lane);
        sum = add(sum, times(x.x, y.x));
        sum = add(sum, times(x.y, y.y));
        sum = add(sum, times(x.z, y.z));
        sum = add(sum, times(x.w, y.w));
    }
#pragma unroll
    for (int block = WHOLE; block < WIDTH; block += 8) sum = add(sum, times(a[block + lane], b[block + lane]));
    return sum;
}

// Eight sums added up: halves, then theirs, then theirs. All eight lanes get the total.
__device__ __forceinline__ float total_of_lanes(float sum)
{
    sum = add(sum, __shfl_xor_sync(ALL, sum, 4));
    sum = add(sum, __shfl_xor_sync(ALL, sum, 2));
    return add(sum, __shfl_xor_sync(ALL, sum, 1));
}

// Where the n-th of the bits that are set is, counted from 0; any place if there are not so many.
__device__ __forceinline__ int nth_bit(u32 bits, int n)
{
    int place = 0;
#pragma unroll
    for (int half = 16; half; half /= 2) {
        const int there = __popc(bits >> place & ((1u << half) - 1));
        if (n >= there) {
            n -= there;
            place += half;
        }
    }
    return place;
}

// Rows in shared memory that are found again by their number. Only warp 0 keeps the account: lane s of it has the slots
// s, s + 32, …; a row stays as long as somebody who was read ahead will need it. It rests for one step after that, while
// the others write it back to the device's memory: it can still be found, but its slot is not given away.
template <int SLOTS> struct Account
{
    enum { PER_LANE = (SLOTS + 31) / 32 };
    int row[PER_LANE], users[PER_LANE];
    bool resting[PER_LANE], left[PER_LANE];

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int part = 0; part < PER_LANE; part++) {
            row[part] = users[part] = 0;
            resting[part] = left[part] = false;
        }
    }

    // Each lane below COUNT that `wants` a row gets its slot; two that want the same get the same. `fresh` are the lanes
    // whose rows were not there and have to be fetched.
    template <int COUNT> __device__ __forceinline__ int enter(int wanted, bool wants, int lane, u32& fresh)
    {
        const u32 same = __match_any_sync(ALL, wants ? wanted : -1 - lane);
        const int first = __ffs(same) - 1;
        int slot = -1;
        u32 empty[PER_LANE];
#pragma unroll
        for (int part = 0; part < PER_LANE; part++) {
            const bool held = users[part] > 0 || resting[part];
            empty[part] = __ballot_sync(ALL, !held && 32 * part + lane < SLOTS);
            const int holds = held ? row[part] : -64;
#pragma unroll
            for (int from = 0; from < COUNT; from++) {
                const int sought = __shfl_sync(ALL, wants ? wanted : -1, from);
                if (holds == sought) users[part]++;
                const u32 here = __ballot_sync(ALL, holds == sought);
                if (lane == from && here) slot = 32 * part + __ffs(here) - 1;
            }
        }
        fresh = __ballot_sync(ALL, wants && slot < 0 && first == lane);
        // The n-th fresh row goes to the n-th empty slot; lane n looks for both, the others ask it.
        const u32 lower = (1u << lane) - 1;
        const int many = __popc(fresh), nth_fresh = nth_bit(fresh, lane);
        int before = 0, nth_empty = 0;
#pragma unroll
        for (int part = 0; part < PER_LANE; part++) {
            const int here = __popc(empty[part]), place = nth_bit(empty[part], lane - before);
            if (lane >= before && lane < before + here) nth_empty = 32 * part + place;
            const int turn = before + __popc(empty[part] & lower);
            const int from = __shfl_sync(ALL, nth_fresh, turn & 31);
            const int sought = __shfl_sync(ALL, wanted, from & 31), alike = __popc(__shfl_sync(ALL, same, from & 31));
            if (turn < many && (empty[part] >> lane & 1)) {
                row[part] = sought;
                users[part] = alike;
            }
            before += here;
        }
        const int given = __shfl_sync(ALL, nth_empty, __popc(fresh & lower));
        if (fresh >> lane & 1) slot = given;
        return __shfl_sync(ALL, slot, first);
    }

    // Slots that rested can be given away: what was in them has been written back.
    __device__ __forceinline__ void wake()
    {
#pragma unroll
        for (int part = 0; part < PER_LANE; part++) resting[part] = left[part] = false;
    }

    // One user less; no lane waits for another.
    __device__ __forceinline__ void leave(int slot, int lane)
    {
#pragma unroll
        for (int part = 0; part < PER_LANE; part++) {
            if (32 * part + lane == slot) {
                users[part]--;
                left[part] = true;
            }
        }
    }

    // After all have left: which slots of a part nobody needs any more.
    __device__ __forceinline__ u32 rest(int part)
    {
        resting[part] = left[part] && users[part] == 0;
        return __ballot_sync(ALL, resting[part]);
    }
};

// A row on its way from the device's memory to shared memory, by all lanes of a warp; `count` is a multiple of four.
__device__ __forceinline__ void fetch_row(float* slot, const float* row, int count, int lane)
{
    for (int column = 4 * lane; column < count; column += 128) copy_16_bytes(slot + column, row + column);
}
