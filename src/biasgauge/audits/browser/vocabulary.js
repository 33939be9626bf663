"use strict";
// The words of the page: their vectors as whole numbers, families, frequencies; looking words up, and nearest words.

const NOT_THERE = "not in the vocabulary of this page";
const ZERO_VECTOR = "its vector is zero";

// The k-th smallest of some numbers (from 0), which are put into another order.
function orderStatistic(numbers, rank) {
  let low = 0;
  let high = numbers.length - 1;
  while (high > low) {
    const pivot = numbers[(low + high) >> 1];
    let left = low;
    let right = high;
    while (left <= right) {
      while (numbers[left] < pivot) left++;
      while (numbers[right] > pivot) right--;
      if (left > right) break;
      const swap = numbers[left];
      numbers[left++] = numbers[right];
      numbers[right--] = swap;
    }
    if (rank <= right) high = right;
    else if (rank >= left) low = left;
    else break;
  }
  return numbers[rank];
}

// A key for each item, the same for items that are connected: by a common key, by way of other items, too.
function connected(keys) {
  const root = new Map();
  const find = (key) => {
    if (!root.has(key)) root.set(key, key);
    while (root.get(key) !== key) key = root.get(key);
    return key;
  };
  for (const [first, ...further] of keys) for (const key of further) root.set(find(key), find(first));
  return keys.map(([first]) => find(first));
}

class Vocabulary {
  // `lists` is the JSON of the page, `bytes` its numbers one section behind the other.
  constructor(lists, bytes) {
    Object.assign(this, lists);
    let start = 0;
    const section = (type, count) => {
      const end = start + count * type.BYTES_PER_ELEMENT;
      const values = new type(bytes.slice(start, end).buffer);
      start = end;
      return values;
    };
    const size = this.words.length;
    this.logs = this.frequency === null ? null : section(Float64Array, size);
    this.knots = section(Float64Array, lists.knots);
    this.means = section(Float64Array, lists.knots * this.dim);
    this.scales = section(Float32Array, size);
    this.integers = section(this.bits === 8 ? Int8Array : Int16Array, size * this.dim);
    this.index = new Map(this.words.map((word, row) => [word, row]));
    this.families = new Map(this.families); // by row, or by word where the page has no vector of it
    this.units = new Map();
    this.neighbors = new Map();
    this.lengths = Float64Array.from({ length: size }, (_, row) => {
      let square = 0;
      for (let at = row * this.dim; at < (row + 1) * this.dim; at++) square += this.integers[at] ** 2;
      return Math.sqrt(square);
    });
  }

  // Row of a word, as it is written or, where the page says so, in lower case or capitalized; −1 without one.
  row(word) {
    const spellings = this.fallback ? [word, word.toLowerCase(), word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase()] : [word];
    for (const spelling of spellings) if (this.index.has(spelling)) return this.index.get(spelling);
    return -1;
  }

  vector(row) {
    const vector = new Float64Array(this.integers.subarray(row * this.dim, (row + 1) * this.dim));
    for (let at = 0; at < this.dim; at++) vector[at] *= this.scales[row];
    return vector;
  }

  // Vector of length 1 of a row.
  unit(row) {
    if (!this.units.has(row)) {
      const vector = this.vector(row);
      const length = Math.sqrt(dot(vector, vector));
      this.units.set(row, vector.map((value) => value / length));
    }
    return this.units.get(row);
  }

  // Unit vector less the mean unit vector of words of its frequency.
  centered(row) {
    const unit = this.unit(row);
    if (this.knots.length < 2) return unit;
    const value = this.logs[row];
    let right = this.knots.findIndex((knot) => knot > value);
    if (right < 0) right = this.knots.length;
    const left = Math.min(Math.max(right - 1, 0), this.knots.length - 2);
    const share = Math.min(Math.max((value - this.knots[left]) / (this.knots[left + 1] - this.knots[left]), 0), 1);
    const start = left * this.dim;
    const centered = new Float64Array(this.dim);
    for (let at = 0; at < this.dim; at++) centered[at] = unit[at] - ((1 - share) * this.means[start + at] + share * this.means[start + this.dim + at]);
    return centered;
  }

  // Words of a list: those found with their rows, and those lost with the reason; each once.
  find(words) {
    const found = [];
    const lost = [];
    for (const word of new Set(words)) {
      const row = this.row(word);
      if (row < 0) lost.push({ word, reason: NOT_THERE });
      else if (this.lengths[row] === 0) lost.push({ word, reason: ZERO_VECTOR });
      else found.push({ word, row });
    }
    return { found, lost, asked: new Set(words).size };
  }

  // A family for each word: words share one where they are forms of one lemma, by way of other words of the list, too.
  familiesOf(entries) {
    return connected(entries.map(({ word, row }) => [`word ${word.toLowerCase()}`, ...(this.families.get(row < 0 ? word : row) ?? []).map((lemma) => `lemma ${lemma}`)]));
  }

  // The same families, those with words of one vector made one: each is one observation.
  mergeVectors(entries, families) {
    const vector = (row) => `${this.scales[row]} ${this.integers.subarray(row * this.dim, (row + 1) * this.dim).join()}`;
    return connected(entries.map(({ row }, index) => [families[index], `vector ${vector(row)}`]));
  }

  // Cosine of a unit vector with every word; −Infinity for those without a direction.
  similarities(unit) {
    const { integers, lengths, dim } = this;
    const values = new Float64Array(lengths.length);
    for (let row = 0, at = 0; row < values.length; row++) {
      let total = 0;
      for (let index = 0; index < dim; index++) total += integers[at++] * unit[index];
      values[row] = lengths[row] === 0 ? -Infinity : total / lengths[row];
    }
    return values;
  }

  // Rows of the `count` nearest words of a row, itself left out, in no order; null where there are too few.
  nearest(row, count = 100) {
    if (!this.neighbors.has(row)) {
      const values = this.similarities(this.unit(row));
      values[row] = -Infinity;
      const usable = this.lengths.reduce((total, length) => total + (length > 0 ? 1 : 0), 0);
      if (usable <= count) return null;
      const limit = orderStatistic(values.slice(), values.length - count);
      const rows = [];
      values.forEach((value, other) => value >= limit && rows.push(other));
      this.neighbors.set(row, rows.slice(0, count));
    }
    return this.neighbors.get(row);
  }

  // Words nearest to the middle of some words, with cosines, that are of the family of none of `excluded`.
  suggestions(rows, excluded, count = 12) {
    if (!rows.length) return [];
    const middle = new Float64Array(this.dim);
    for (const row of rows) this.unit(row).forEach((value, at) => (middle[at] += value));
    const length = Math.sqrt(dot(middle, middle));
    if (length === 0) return [];
    const values = this.similarities(middle.map((value) => value / length));
    const order = Array.from(values.keys()).sort((one, two) => values[two] - values[one]);
    const chosen = [];
    for (const row of order.slice(0, 200)) {
      const word = this.words[row];
      if (!/\p{L}/u.test(word)) continue;
      const entries = [...excluded, ...chosen, { word, row }];
      const families = this.familiesOf(entries);
      if (families.indexOf(families.at(-1)) === families.length - 1) chosen.push({ word, row, cosine: values[row] });
      if (chosen.length === count) break;
    }
    return chosen;
  }
}
