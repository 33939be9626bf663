"use strict";
// The random numbers of NumPy: numpy.random.default_rng(entropy) with its SeedSequence and PCG64 (XSL-RR), so that the
// splits that a permutation test draws here are those that Python draws.

// SeedSequence(entropy).generate_state(8), entropy being at most four whole numbers below 2³².
function seedState(entropy) {
  let constant = 0x43b0d7e5;
  const hash = (value) => {
    value ^= constant;
    constant = Math.imul(constant, 0x931e8875);
    value = Math.imul(value, constant);
    return value ^ (value >>> 16);
  };
  const pool = [0, 1, 2, 3].map((index) => hash(entropy[index] ?? 0));
  for (let source = 0; source < 4; source++) {
    for (let target = 0; target < 4; target++) {
      if (source === target) continue;
      const mixed = (Math.imul(0xca01f9dd, pool[target]) - Math.imul(0x4973f715, hash(pool[source]))) | 0;
      pool[target] = mixed ^ (mixed >>> 16);
    }
  }
  constant = 0x8b51f9dd;
  const state = new Uint32Array(8);
  for (let index = 0; index < 8; index++) {
    let value = pool[index % 4] ^ constant;
    constant = Math.imul(constant, 0x58f38ded);
    value = Math.imul(value, constant);
    state[index] = value ^ (value >>> 16);
  }
  return state;
}

const MULTIPLIER = (2549297995355413924n << 64n) + 4865540595714422341n;
const MODULUS = 1n << 128n;

// PCG64 whose 128-bit state is six numbers of 24 bits (the last one of 8), lowest first: their products and sums are
// exact in double precision, and a step takes some 20 multiplications.
class RandomStream {
  constructor(entropy) {
    const words = [...seedState(entropy)].map(BigInt);
    const wide = (low, high) => ((words[low + 1] << 32n) + words[low]) * (1n << 64n) + (words[high + 1] << 32n) + words[high];
    const increment = ((wide(4, 6) << 1n) | 1n) % MODULUS;
    const state = ((increment + wide(0, 2)) * MULTIPLIER + increment) % MODULUS;
    this.state = RandomStream.limbs(state);
    this.increment = RandomStream.limbs(increment);
  }

  static limbs(value) {
    return Float64Array.from({ length: 6 }, (_, index) => Number((value >> BigInt(24 * index)) & 0xffffffn));
  }

  // Fill an array with numbers from [0, 1), as Generator.random does.
  fill(numbers) {
    const [m0, m1, m2, m3, m4, m5] = MULTIPLIER_LIMBS;
    const [i0, i1, i2, i3, i4, i5] = this.increment;
    let [s0, s1, s2, s3, s4, s5] = this.state;
    const down = 1 / 16777216;
    for (let index = 0; index < numbers.length; index++) {
      let t = s0 * m0 + i0;
      let carry = Math.floor(t * down);
      const n0 = t - carry * 16777216;
      t = s0 * m1 + s1 * m0 + i1 + carry;
      carry = Math.floor(t * down);
      const n1 = t - carry * 16777216;
      t = s0 * m2 + s1 * m1 + s2 * m0 + i2 + carry;
      carry = Math.floor(t * down);
      const n2 = t - carry * 16777216;
      t = s0 * m3 + s1 * m2 + s2 * m1 + s3 * m0 + i3 + carry;
      carry = Math.floor(t * down);
      const n3 = t - carry * 16777216;
      t = s0 * m4 + s1 * m3 + s2 * m2 + s3 * m1 + s4 * m0 + i4 + carry;
      carry = Math.floor(t * down);
      const n4 = t - carry * 16777216;
      t = s0 * m5 + s1 * m4 + s2 * m3 + s3 * m2 + s4 * m1 + s5 * m0 + i5 + carry;
      s5 = t - Math.floor(t / 256) * 256;
      s0 = n0; s1 = n1; s2 = n2; s3 = n3; s4 = n4; // prettier-ignore
      // Four words of 32 bits; output is (high ^ low) rotated right by the six highest bits of the state. Branches on
      // random bits would cost more than the arithmetic: halves change places by a mask.
      const l1 = s1 | 0;
      const l2 = s2 | 0;
      const l3 = s3 | 0;
      const l4 = s4 | 0;
      const l5 = s5 | 0;
      const highest = l4 | (l5 << 24);
      let low = (s0 | (l1 << 24)) ^ ((l2 >>> 16) | (l3 << 8));
      let high = ((l1 >>> 8) | (l2 << 16)) ^ highest;
      const swap = (low ^ high) & (highest >> 31);
      low ^= swap;
      high ^= swap;
      const turn = (highest >>> 26) & 31;
      const lower = (low >>> turn) | ((high << 1) << (31 - turn));
      high = (high >>> turn) | ((low << 1) << (31 - turn));
      // The 53 highest bits.
      numbers[index] = ((high >>> 0) * 2097152 + (lower >>> 11)) * 1.1102230246251565e-16;
    }
    this.state = Float64Array.of(s0, s1, s2, s3, s4, s5);
    return numbers;
  }
}

const MULTIPLIER_LIMBS = RandomStream.limbs(MULTIPLIER);
const BLOCK = 64; // draws for which random numbers are made at a time

// Random subsets of `size` of `pool` units, each draw the units with the smallest of `pool` random keys, as index arrays
// one behind the other.
function randomSubsets(entropy, size, pool, draws) {
  const stream = new RandomStream(entropy);
  const keys = new Float64Array(pool * BLOCK);
  const members = new Uint16Array(size * draws);
  // Keys are counted in bins, so that only those of the bin with the last member are compared.
  const bins = 2 ** Math.ceil(Math.log2(pool + 1));
  const counts = new Uint16Array(bins);
  const binOf = new Uint16Array(pool);
  let end = 0;
  for (let done = 0; done < draws; done += BLOCK) {
    const block = Math.min(BLOCK, draws - done);
    stream.fill(block === BLOCK ? keys : keys.subarray(0, block * pool));
    for (let start = 0; start < block * pool; start += pool) {
      counts.fill(0);
      for (let unit = 0; unit < pool; unit++) {
        const bin = (keys[start + unit] * bins) | 0;
        binOf[unit] = bin;
        counts[bin]++;
      }
      let last = 0;
      let below = 0;
      while (below + counts[last] < size) below += counts[last++];
      const wanted = size - below;
      if (wanted === counts[last]) {
        for (let unit = 0; unit < pool; unit++) if (binOf[unit] <= last) members[end++] = unit;
        continue;
      }
      const tied = [];
      for (let unit = 0; unit < pool; unit++) {
        if (binOf[unit] < last) members[end++] = unit;
        else if (binOf[unit] === last) tied.push(unit);
      }
      tied.sort((one, two) => keys[start + one] - keys[start + two]);
      for (let index = 0; index < wanted; index++) members[end++] = tied[index];
    }
  }
  return members;
}
