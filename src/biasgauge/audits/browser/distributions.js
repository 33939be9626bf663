"use strict";
// Distribution functions: Student's t, noncentral t, chi-squared. Tests hold them against SciPy's.

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
]; // prettier-ignore

function logGamma(x) {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const shifted = x - 1;
  let sum = LANCZOS[0];
  for (let index = 1; index < 9; index++) sum += LANCZOS[index] / (shifted + index);
  const t = shifted + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(t) - t + Math.log(sum);
}

// Regularized incomplete beta function I_x(a, b), by the continued fraction of Lentz.
function betaShare(x, a, b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  const tiny = 1e-300;
  let c = 1;
  let d = 1 - ((a + b) * x) / (a + 1);
  d = 1 / (Math.abs(d) < tiny ? tiny : d);
  let fraction = d;
  for (let m = 1; m < 10_000; m++) {
    for (const numerator of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 + numerator * d;
      d = 1 / (Math.abs(d) < tiny ? tiny : d);
      c = 1 + numerator / c;
      if (Math.abs(c) < tiny) c = tiny;
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return front * fraction;
}

// Root of an increasing function between two ends, by bisection.
function bisect(increasing, low, high) {
  for (let step = 0; step < 200; step++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (increasing(middle) < 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

// P(T ≤ t) of Student's t.
function studentShare(df, t) {
  const tail = 0.5 * betaShare(df / (df + t * t), df / 2, 0.5);
  return t > 0 ? 1 - tail : tail;
}

// t with P(T ≤ t) = share.
function studentQuantile(df, share) {
  if (share === 0.5) return 0;
  if (share < 0.5) return -studentQuantile(df, 1 - share);
  let high = 2;
  while (studentShare(df, -high) > 1 - share) high *= 2;
  return bisect((t) => 1 - share - studentShare(df, -t), 0, high);
}

function normalShare(z) {
  return 0.5 * (z < 0 ? gammaShare(0.5, (z * z) / 2, true) : 1 + gammaShare(0.5, (z * z) / 2, false));
}

// Regularized incomplete gamma function: P(a, x), or Q(a, x) = 1 − P where `upper`.
function gammaShare(a, x, upper) {
  if (x <= 0) return upper ? 1 : 0;
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; n < 100_000 && term > sum * 1e-17; n++) sum += term *= x / (a + n);
    return upper ? 1 - front * sum : front * sum;
  }
  const tiny = 1e-300;
  let b = x + 1 - a;
  let c = 1 / tiny;
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < 100_000; n++) {
    const numerator = -n * (n - a);
    b += 2;
    d = 1 / (numerator * d + b || tiny);
    c = b + numerator / c || tiny;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return upper ? front * fraction : 1 - front * fraction;
}

// Value that chi-squared with df degrees of freedom exceeds with this probability.
function chiSquaredUpper(df, probability) {
  let high = df + 10;
  while (gammaShare(df / 2, high / 2, true) > probability) high *= 2;
  return bisect((x) => probability - gammaShare(df / 2, x / 2, true), 0, high);
}

// P(T ≤ t) of the noncentral t (Lenth 1989, AS 243), for t of either sign. Terms are summed from the largest one, so that
// large noncentralities lose nothing.
function noncentralShare(df, noncentrality, t) {
  if (t < 0) return 1 - noncentralShare(df, -noncentrality, -t);
  const base = normalShare(-noncentrality);
  if (t === 0) return base;
  const x = (t * t) / (t * t + df);
  const half = (noncentrality * noncentrality) / 2;
  if (half === 0) return base + 0.5 * betaShare(x, 0.5, df / 2);
  const sign = noncentrality < 0 ? -1 : 1;
  const even = (j) => Math.exp(-half + j * Math.log(half) - logGamma(j + 1));
  const odd = (j) => sign * Math.exp(-half + (j + 0.5) * Math.log(half) - logGamma(j + 1.5));
  const term = (j) => even(j) * betaShare(x, j + 0.5, df / 2) + odd(j) * betaShare(x, j + 1, df / 2);
  const start = Math.floor(half);
  let sum = 0;
  for (const [from, step] of [[start, 1], [start - 1, -1]]) { // prettier-ignore
    for (let j = from; j >= 0; j += step) {
      sum += term(j);
      if (even(j) + Math.abs(odd(j)) < 1e-16) break;
    }
  }
  return Math.min(1, Math.max(0, base + 0.5 * sum));
}
