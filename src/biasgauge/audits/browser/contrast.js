"use strict";
// The contrast of two lists of targets with two lists of attributes, and its tests: what biasgauge.metrics.contrast and
// biasgauge.stats.contrasts compute, line by line. A table is an array of rows (Float64Array).

const SAME = 1e-12; // numbers closer than this differ by rounding alone
const WEIGHTS = [[1, -1], [-1, 1]]; // prettier-ignore
const RANK = 0.05; // smallest share of the largest singular value with which covariates leave words to compare
const SLACK = 1e-6;
const EXACT = 20_000; // splits up to which all are looked at
const DRAWS = 9_999; // random splits otherwise
const SINGLE_WORD = "a list has a single word, so that its spread is unknown";
const SAME_FREQUENCY = 1e-6;
const COLLINEAR = "the covariates separate the lists, so that no words of equal covariates are left to compare";
const NO_SPREAD = "all similarities of a list are the same";

const sumOf = (numbers) => numbers.reduce((total, number) => total + number, 0);
const meanOf = (numbers) => sumOf(numbers) / numbers.length;
const dot = (one, two) => {
  let total = 0;
  for (let index = 0; index < one.length; index++) total += one[index] * two[index];
  return total;
};
const transposed = (table) => {
  const turned = [];
  for (let column = 0; column < table[0].length; column++) {
    const values = new Float64Array(table.length);
    for (let row = 0; row < table.length; row++) values[row] = table[row][column];
    turned.push(values);
  }
  return turned;
};
// Product of a table with the transpose of another, and with another.
const productTurned = (left, right) => left.map((row) => Float64Array.from(right, (other) => dot(row, other)));
const product = (left, right) => productTurned(left, transposed(right));

const GROUPED = 0.2; // correlation of two words of one group up to which they are no nearer than any words of a topic
const MOST_GROUPS = 8;

// Effective number of words of a list, from their vectors of length 1.
function effectiveWords(units) {
  const count = units.length;
  if (count < 4) return count;
  const cosines = productTurned(units, units);
  const pairs = new Float64Array((count * (count - 1)) / 2);
  let end = 0;
  for (let row = 0; row < count; row++) for (let column = row + 1; column < count; column++) pairs[end++] = cosines[row][column];
  pairs.sort();
  const median = pairs[pairs.length >> 1];
  const spread = median - pairs[Math.floor(0.16 * pairs.length)];
  const usual = meanOf(pairs.filter((cosine) => Math.abs(cosine - median) <= spread));
  if (usual >= 1 - SAME) return count;
  const correlations = 2 * sumOf(pairs.map((cosine) => (cosine - usual) / (1 - usual)));
  return count ** 2 / (count + Math.max(0, correlations, groupedCorrelations(cosines)));
}

// Sum of the correlations of words of one group, beyond those of words of a topic without groups.
function groupedCorrelations(cosines) {
  const groups = nearGroups(cosines);
  if (groups === null) return 0;
  const count = cosines.length;
  const sums = cosines.map((row, word) => sumOf(row) - row[word]);
  const mean = meanOf(sums);
  const effects = sums.map((sum) => (sum - mean) / (count - 2));
  const [within, between, cosinesBetween] = [[], [], []];
  cosines.forEach((row, one) =>
    row.forEach((cosine, two) => {
      if (one === two) return;
      const residual = cosine - effects[one] - effects[two];
      if (groups[one] === groups[two]) within.push(residual);
      else {
        between.push(residual);
        cosinesBetween.push(cosine);
      }
    }),
  );
  const usual = meanOf(between);
  const spread = 1 - meanOf(cosinesBetween);
  return sumOf(within.map((residual) => (residual - usual) / spread - GROUPED));
}

// Group of each word: average linkage, cut into the 2 to 8 groups of the largest mean silhouette; null where there are none.
function nearGroups(cosines) {
  const count = cosines.length;
  if (count < 6) return null;
  const distances = cosines.map((row, one) => Float64Array.from(row, (cosine, two) => (one === two ? 0 : 1 - cosine)));
  const linked = distances.map((row) => Float64Array.from(row)); // mean distances between clusters, at their first words
  const sizes = Array(count).fill(1);
  const clusters = Array.from({ length: count }, (_, word) => word);
  const nearestTo = (cluster) => {
    let nearest = -1;
    for (let other = 0; other < count; other++) {
      if (other !== cluster && sizes[other] && (nearest < 0 || linked[cluster][other] < linked[cluster][nearest])) nearest = other;
    }
    return nearest;
  };
  const nearest = clusters.map(nearestTo);
  let [best, groups] = [SAME, null];
  for (let number = count - 1; number > 1; number--) {
    let first = -1;
    for (let cluster = 0; cluster < count; cluster++) {
      if (sizes[cluster] && (first < 0 || linked[cluster][nearest[cluster]] < linked[first][nearest[first]])) first = cluster;
    }
    const second = nearest[first];
    const total = sizes[first] + sizes[second];
    for (let other = 0; other < count; other++) {
      linked[first][other] = (sizes[first] * linked[first][other] + sizes[second] * linked[second][other]) / total;
      linked[other][first] = linked[first][other];
    }
    sizes[first] = total;
    sizes[second] = 0;
    for (let word = 0; word < count; word++) if (clusters[word] === second) clusters[word] = first;
    // Distances between two clusters never fall below those of both: only rows that pointed at the two can change.
    for (let cluster = 0; cluster < count; cluster++) {
      if (sizes[cluster] && (cluster === first || nearest[cluster] === first || nearest[cluster] === second)) nearest[cluster] = nearestTo(cluster);
    }
    if (number > Math.min(MOST_GROUPS, Math.floor(count / 2))) continue;
    const mean = meanSilhouette(distances, clusters, sizes);
    if (mean > best + SAME) [best, groups] = [mean, [...clusters]];
  }
  return groups;
}

// Mean silhouette of words in clusters; a word alone in its cluster has 0.
function meanSilhouette(distances, clusters, sizes) {
  let total = 0;
  distances.forEach((row, word) => {
    const sums = new Float64Array(sizes.length);
    row.forEach((distance, other) => (sums[clusters[other]] += distance));
    if (sizes[clusters[word]] === 1) return;
    const same = sums[clusters[word]] / (sizes[clusters[word]] - 1);
    let nearest = Infinity;
    sums.forEach((sum, cluster) => {
      if (sizes[cluster] && cluster !== clusters[word]) nearest = Math.min(nearest, sum / sizes[cluster]);
    });
    total += (nearest - same) / Math.max(nearest, same, SAME);
  });
  return total / clusters.length;
}

// Eigenvalues of a small symmetric matrix, by the rotations of Jacobi.
function eigenvalues(matrix) {
  const a = matrix.map((row) => [...row]);
  const size = a.length;
  for (let sweep = 0; sweep < 60; sweep++) {
    let rest = 0;
    for (let p = 0; p < size; p++) for (let q = p + 1; q < size; q++) rest += a[p][q] ** 2;
    if (rest < 1e-300) break;
    for (let p = 0; p < size; p++) {
      for (let q = p + 1; q < size; q++) {
        if (a[p][q] === 0) continue;
        const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1));
        const c = 1 / Math.hypot(t, 1);
        const s = t * c;
        for (let k = 0; k < size; k++) [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
        for (let k = 0; k < size; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
      }
    }
  }
  return a.map((row, index) => row[index]);
}

// Inverse of a small matrix, by elimination with pivots.
function inverseOf(matrix) {
  const size = matrix.length;
  const rows = matrix.map((row, index) => [...row, ...row.map((_, column) => (column === index ? 1 : 0))]);
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let row = column + 1; row < size; row++) if (Math.abs(rows[row][column]) > Math.abs(rows[pivot][column])) pivot = row;
    [rows[column], rows[pivot]] = [rows[pivot], rows[column]];
    const divisor = rows[column][column];
    rows[column] = rows[column].map((number) => number / divisor);
    for (let row = 0; row < size; row++) {
      if (row === column) continue;
      const factor = rows[row][column];
      if (factor) rows[row] = rows[row].map((number, index) => number - factor * rows[column][index]);
    }
  }
  return rows.map((row) => row.slice(size));
}

const standardized = (values) => {
  const mean = meanOf(values);
  const spread = Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)));
  return values.map((value) => (value - mean) / spread);
};

// Standardized log frequency and what its square has beyond it, words × powers; null where there is nothing to hold constant.
function frequencyPowers(groups, frequencies, powers) {
  if (frequencies === null) return null;
  // Powers of n different values have rank n - 1; the standard deviation of equal values need not be 0.
  const most = Math.min(powers, Math.floor((groups.length - Math.max(...groups) - 1) / 3), new Set(frequencies).size - 1);
  if (most < 1) return null;
  const standard = standardized(frequencies);
  const slope = meanOf(standard.map((value) => (value ** 2 - 1) * value));
  const square = standard.map((value) => value ** 2 - 1 - slope * value);
  const mean = meanOf(square);
  if (most === 1 || Math.sqrt(meanOf(square.map((value) => (value - mean) ** 2))) < SAME_FREQUENCY) return standard.map((value) => [value]);
  const beyond = standardized(square);
  return standard.map((value, word) => [value, beyond[word]]);
}

// One side of a table: the list of each word (0 or 1), cosines between words, log frequencies or null.
function tableSide(groups, effective, frequencies, powers) {
  const covariates = frequencyPowers(groups, frequencies, powers);
  const sizes = [0, 1].map((list) => groups.filter((group) => group === list).length);
  const side = { groups, sizes, effective, collinear: false };
  const members = groups.map((group) => [group === 0 ? 1 : 0, group === 1 ? 1 : 0]);
  if (covariates === null) {
    side.design = members.map((row) => Float64Array.from(row));
    side.inverse = [0, 1].map((list) => Float64Array.from(groups, (group) => (group === list ? 1 / sizes[list] : 0)));
  } else {
    const means = covariates[0].map((_, power) => meanOf(covariates.map((row) => row[power])));
    side.design = members.map((row, word) => Float64Array.from([...row, ...covariates[word].map((value, power) => value - means[power])]));
    const columns = transposed(side.design);
    const squares = columns.map((one) => columns.map((two) => dot(one, two)));
    const values = eigenvalues(squares).map((value) => Math.sqrt(Math.max(0, value)));
    if (Math.min(...values) < RANK * Math.max(...values)) side.collinear = true;
    else side.inverse = product(inverseOf(squares), columns);
  }
  if (!side.collinear) {
    side.slack = side.design.map((row, word) => 1 - sumOf(Array.from(row, (value, column) => value * side.inverse[column][word])));
    if (covariates !== null && Math.min(...side.slack) < SLACK) side.collinear = true;
  }
  return side;
}

const satterthwaite = (terms) => sumOf(terms.map(([variance]) => variance)) ** 2 / sumOf(terms.map(([variance, df]) => variance ** 2 / df));

// Addend of each word of one side beyond the fit, scaled to full variance.
function contributionsOf(side, scores, coefficients, weights) {
  return Float64Array.from(scores, (row, word) => {
    let total = 0;
    for (let list = 0; list < 2; list++) total += (row[list] - dot(side.design[word], coefficients[list])) * weights[word][list];
    return total / Math.sqrt(side.slack[word]);
  });
}

// The contrast with its standard error, degrees of freedom, p and components of variance.
function contrastEstimate(table, rows, columns) {
  const result = { value: null, se: null, df: null, p: null, reason: "", variances: {}, words: [rows.sizes, columns.sizes] };
  result.effective = [rows.effective, columns.effective];
  const spread = [rows, columns].map((side) => Math.max(...side.sizes) > 1);
  const lonely = [rows, columns].some((side) => Math.min(...side.sizes) === 1 && Math.max(...side.sizes) > 1);
  result.over = ["targets", "attributes"].filter((_, index) => spread[index]);
  const undecided = !spread.some(Boolean) || lonely;
  if (rows.collinear || columns.collinear) return { ...result, reason: undecided ? SINGLE_WORD : COLLINEAR };
  const byRow = productTurned(table, columns.inverse); // S C⁺ᵀ
  const byColumn = product(rows.inverse, table); // R⁺ S
  const coefficients = product(rows.inverse, byRow); // K
  result.value = 0;
  for (let one = 0; one < 2; one++) for (let two = 0; two < 2; two++) result.value += WEIGHTS[one][two] * coefficients[one][two];
  if (undecided) return { ...result, reason: SINGLE_WORD };
  // The contrast is Σ L · S with L = (rows of R⁺ for lists)ᵀ · weights · (rows of C⁺ for lists).
  const weigh = (side) => side.groups.map((_, word) => [0, 1].map((list) => side.inverse[0][word] * WEIGHTS[0][list] + side.inverse[1][word] * WEIGHTS[1][list]));
  const rowWeights = weigh(rows);
  const columnWeights = weigh(columns);
  const columnsOfK = transposed(coefficients);
  const terms = [];
  const variances = {};
  const addTerms = (name, side, addends) => {
    const squares = [0, 1].map((list) => sumOf(Array.from(addends, (addend, word) => (side.groups[word] === list ? addend ** 2 : 0))));
    variances[name] = 0;
    for (let list = 0; list < 2; list++) {
      const share = (side.sizes[list] - 1) / (side.effective[list] - 1);
      const residual = sumOf(side.slack.filter((_, word) => side.groups[word] === list));
      variances[name] += squares[list] * share;
      terms.push([squares[list] * share, residual / share]);
    }
  };
  if (spread[0]) addTerms("targets", rows, contributionsOf(rows, byRow, columnsOfK, rowWeights));
  if (spread[1]) {
    const byWord = transposed(byColumn);
    addTerms("attributes", columns, contributionsOf(columns, byWord, coefficients, columnWeights));
  }
  const both = spread[0] && spread[1] ? interaction(table, rows, columns, byRow, byColumn, coefficients, rowWeights) : 0;
  if (spread[0] && spread[1]) variances.both = both;
  const main = [variances.targets ?? 0, variances.attributes ?? 0];
  const variance = Math.max(main[0] + main[1] - both, ...main);
  let largest = 0;
  for (const row of table) for (const value of row) largest = Math.max(largest, Math.abs(value));
  if (!(variance > (SAME * largest) ** 2)) return { ...result, reason: NO_SPREAD };
  const se = Math.sqrt(variance);
  const df = satterthwaite(terms);
  return { ...result, se, df, p: 2 * studentShare(df, -Math.abs(result.value) / se), variances };
}

// Variance of target × attribute: Σ (L · residual)² / (slack of row · slack of column).
function interaction(table, rows, columns, byRow, byColumn, coefficients, rowWeights) {
  const fitted = product(rows.design, coefficients);
  let total = 0;
  for (let row = 0; row < table.length; row++) {
    const rest = fitted[row].map((value, index) => value - byRow[row][index]);
    const design = rows.design[row];
    for (let column = 0; column < columns.groups.length; column++) {
      let residual = table[row][column] + dot(rest, columns.design[column]);
      for (let index = 0; index < design.length; index++) residual -= design[index] * byColumn[index][column];
      const leverage = rowWeights[row][0] * columns.inverse[0][column] + rowWeights[row][1] * columns.inverse[1][column];
      total += (residual * leverage) ** 2 / (rows.slack[row] * columns.slack[column]);
    }
  }
  return total;
}

// Interval of a contrast.
function contrastInterval(contrast, level) {
  if (contrast.se === null) return [null, null];
  const margin = studentQuantile(contrast.df, (1 + level) / 2) * contrast.se;
  return [contrast.value - margin, contrast.value + margin];
}

// --- splits ---------------------------------------------------------------------------------------------------------

const splitCache = new Map();

// Members of the first list in each split of `first` + `second` words, but the observed one.
function splitsOf(first, second, seed) {
  const key = `${first} ${second} ${seed}`;
  if (!splitCache.has(key)) {
    if (splitCache.size > 24) splitCache.delete(splitCache.keys().next().value);
    const exact = choose(first + second, first) <= EXACT;
    const members = exact ? combinations(first + second, first) : randomSubsets([seed, first, second], first, first + second, DRAWS);
    splitCache.set(key, { members, exact });
  }
  return splitCache.get(key);
}

function choose(n, k) {
  let ways = 1;
  for (let index = 1; index <= Math.min(k, n - k); index++) ways = (ways * (n - Math.min(k, n - k) + index)) / index;
  return Math.round(ways);
}

function combinations(n, k) {
  const members = new Uint16Array(choose(n, k) * k);
  const current = Array.from({ length: k }, (_, index) => index);
  for (let end = 0; end < members.length; end += k) {
    members.set(current, end);
    let index = k - 1;
    while (index >= 0 && current[index] === n - k + index) index--;
    if (index < 0) break;
    current[index]++;
    for (let later = index + 1; later < k; later++) current[later] = current[later - 1] + 1;
  }
  return members;
}

// Difference of the means of two lists of numbers, tested against splits of both together: p and interval.
function shiftBetween(one, two, seed) {
  const first = one.length;
  const pool = Float64Array.from([...one, ...two]);
  const others = pool.length - first;
  const { members, exact } = splitsOf(first, others, seed);
  const total = sumOf(pool);
  const value = meanOf(one) - meanOf(two);
  const critical = new Float64Array(members.length / first);
  let count = 0;
  for (let start = 0; start < members.length; start += first) {
    let sum = 0;
    let stayed = 0;
    for (let index = start; index < start + first; index++) {
      sum += pool[members[index]];
      if (members[index] < first) stayed++;
    }
    if (stayed === first) continue; // the observed split says nothing about a shift
    const difference = sum / first - (total - sum) / others;
    const overlap = stayed / first - (first - stayed) / others;
    critical[count++] = (value - difference) / (1 - overlap);
  }
  const sorted = critical.subarray(0, count).sort();
  let below = 0;
  let above = 0;
  for (const shift of sorted) {
    if (shift <= SAME) below++;
    if (shift >= -SAME) above++;
  }
  const p = Math.min(1, (2 * (1 + Math.min(below, above))) / (1 + count));
  const interval = (level) => {
    const rank = Math.floor(((1 - level) / 2) * (1 + count) * (1 + SAME));
    return rank < 1 ? [-Infinity, Infinity] : [sorted[rank - 1], sorted[count - rank]];
  };
  return { value, p, interval, splits: count + (exact ? 1 : 0), exact };
}

// Association of each row with the first list of columns rather than the second, less what covariates predict.
function rowScores(table, rows, columns) {
  const weights = columns.groups.map((_, word) => columns.inverse[0][word] - columns.inverse[1][word]);
  const scores = Float64Array.from(table, (row) => dot(row, weights));
  const fitted = rows.inverse.slice(2).map((row) => dot(row, scores));
  return scores.map((score, word) => score - sumOf(fitted.map((coefficient, index) => coefficient * rows.design[word][2 + index])));
}

function shiftOf(table, rows, columns, seed) {
  if (rows.collinear || columns.collinear) return null;
  const scores = rowScores(table, rows, columns);
  return shiftBetween(scores.filter((_, word) => rows.groups[word] === 0), scores.filter((_, word) => rows.groups[word] === 1), seed);
}

// A contrast with three tests and their joint interval. `seed` is that of the splits of the targets.
function contrastTest(table, rows, columns, seed = 0) {
  const contrast = contrastEstimate(table, rows, columns);
  const turned = transposed(table);
  const targets = shiftOf(table, rows, columns, seed);
  const attributes = shiftOf(turned, columns, rows, seed + 1);
  const shifts = [targets, attributes].filter((shift) => shift !== null);
  const p = contrast.p === null ? null : Math.max(contrast.p, ...shifts.map((shift) => shift.p));
  const interval = (level) => {
    if (contrast.se === null) return [null, null];
    const ends = [contrastInterval(contrast, level), ...shifts.map((shift) => shift.interval(level))];
    const [low, high] = [Math.min(...ends.map(([end]) => end)), Math.max(...ends.map(([, end]) => end))];
    return Number.isFinite(low) && Number.isFinite(high) ? [low, high] : [null, null];
  };
  return { contrast, targets, attributes, p, interval };
}

// --- power ----------------------------------------------------------------------------------------------------------

const harmonicMean = (counts) => counts.length / sumOf(counts.map((count) => 1 / count));
const MOST_WORDS = 1_000_000;

// Smallest contrast that the words at hand detect with this power.
function detectableContrast(contrast, power, alpha) {
  if (contrast.se === null) return null;
  const limit = studentQuantile(contrast.df, 1 - alpha / 2);
  let high = limit + 10;
  while (noncentralShare(contrast.df, high, limit) > 1 - power) high *= 2;
  return contrast.se * bisect((size) => 1 - power - noncentralShare(contrast.df, size, limit), 0, high);
}

// Chance that the words at hand detect a contrast of this size.
function contrastPower(contrast, size, alpha) {
  if (contrast.se === null) return null;
  return 1 - noncentralShare(contrast.df, size / contrast.se, studentQuantile(contrast.df, 1 - alpha / 2));
}

// Words in each of all lists with which a contrast of this size would be detected; null: no number is enough.
function wordsNeeded(contrast, size, power, alpha, assurance = 0.8) {
  if (contrast.se === null || contrast.over.length < 2) return null;
  const [rows, columns] = contrast.words.map(harmonicMean);
  const shares = contrast.effective.map((counts, side) => harmonicMean(counts) / [rows, columns][side]);
  const inflation = contrast.df / chiSquaredUpper(contrast.df, assurance);
  const both = contrast.variances.both ?? 0;
  const powerAt = (words) => {
    const targets = (Math.max((contrast.variances.targets ?? 0) - both, 0) * rows) / words;
    const attributes = (Math.max((contrast.variances.attributes ?? 0) - both, 0) * columns) / words;
    const shared = (both * rows * columns) / words ** 2;
    const variance = (targets + attributes + shared) * inflation;
    const terms = [
      [targets + shared, 2 * (words * shares[0] - 1)],
      [attributes + shared, 2 * (words * shares[1] - 1)],
    ].filter(([term]) => term > 0);
    if (!terms.length || Math.min(...terms.map(([, df]) => df)) <= 0) return 0;
    const df = Math.min(satterthwaite(terms), 1e6);
    return 1 - noncentralShare(df, size / Math.sqrt(variance), studentQuantile(df, 1 - alpha / 2));
  };
  let [low, high] = [1, 2];
  while (powerAt(high) < power) {
    [low, high] = [high, 2 * high];
    if (high > MOST_WORDS) return null;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (powerAt(middle) >= power) high = middle;
    else low = middle;
  }
  return high;
}
