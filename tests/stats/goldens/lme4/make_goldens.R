# Goldens of the mixed model and of variance components, by lme4 and lmerTest:
#
#   python make_data.py DATA && Rscript make_goldens.R DATA goldens.json
#
# Optimisers run to a tighter tolerance than their defaults, so that estimates are good to about seven digits. R² is
# Nakagawa & Schielzeth's as MuMIn's r.squaredGLMM computes it: var() of the fixed part over that plus all variances.
suppressMessages({
  library(lmerTest)
  library(jsonlite)
})
arguments <- commandArgs(TRUE)
read <- function(name) read.csv(file.path(arguments[1], paste0(name, ".csv")), stringsAsFactors = TRUE)
tight <- lmerControl(
  optimizer = "bobyqa", optCtrl = list(rhobeg = 0.2, rhoend = 1e-10, maxfun = 2e5), calc.derivs = FALSE,
  check.conv.singular = .makeCC(action = "ignore", tol = 1e-4), check.scaleX = "ignore"
)

fit <- function(formula, data, reml = TRUE) lmer(formula, data, REML = reml, control = tight)

variances <- function(model) {
  table <- as.data.frame(VarCorr(model))
  as.list(setNames(table$vcov, table$grp))
}

r2 <- function(model) {
  fixed <- var(as.vector(model.matrix(model) %*% fixef(model)))
  random <- unlist(variances(model))
  total <- fixed + sum(random)
  groups <- random[names(random) != "Residual"] / total
  list(fixed = fixed / total, groups = as.list(groups), total = (fixed + sum(random) - random[["Residual"]]) / total)
}

describe <- function(model) {
  table <- coef(summary(model))
  list(
    names = rownames(table), estimate = table[, "Estimate"], se = table[, "Std. Error"], df = table[, "df"],
    t = table[, "t value"], p = table[, "Pr(>|t|)"], variances = variances(model),
    criterion = if (isREML(model)) REMLcrit(model) else deviance(model), r2 = r2(model),
    effects = lapply(ranef(model), function(one) as.list(setNames(one[, 1], rownames(one)))), rows = nobs(model)
  )
}

crossed <- read("crossed")
three <- read("three_groups")
goldens <- list(
  crossed = describe(fit(y ~ x1 + x2 + x3 + (1 | a) + (1 | b), crossed)),
  crossed_ml = describe(fit(y ~ x1 + x2 + x3 + (1 | a) + (1 | b), crossed, reml = FALSE)),
  singular = describe(fit(y ~ x1 + x2 + x3 + (1 | a) + (1 | b), read("singular"))),
  three_groups = describe(fit(y ~ x1 + (1 | a) + (1 | b) + (1 | c), three)),
  one_group = describe(fit(y ~ x1 + (1 | c), three))
)

# The regression of Du et al. 2021: numbers standardised over all rows, the square of the standardised log frequency.
rows <- read("factors")
for (name in c("log_frequency", "log_senses", "nn_similarity", "norm", "stability")) {
  rows[[name]] <- as.vector(scale(rows[[name]]))
}
rows$log_frequency_squared <- rows$log_frequency^2
terms <- list(
  measure = "measure", log_frequency = c("log_frequency", "log_frequency_squared"), log_senses = "log_senses",
  pos = "pos", nn_similarity = "nn_similarity", norm = "norm", stability = "stability",
  log_frequency_squared = "log_frequency_squared"
)
regress <- function(kept) {
  fit(as.formula(paste("score ~ 1 +", paste(c(kept, "(1|algorithm)", "(1|corpus)"), collapse = " + "))), rows)
}
all <- unique(unlist(terms, use.names = FALSE))
whole <- regress(all)
goldens$factors <- describe(whole)
goldens$factors$drops <- lapply(terms, function(out) {
  less <- r2(regress(setdiff(all, out)))
  list(fixed = r2(whole)$fixed - less$fixed, total = r2(whole)$total - less$total)
})
goldens$factors$intercept_only <- r2(fit(score ~ 1 + (1 | algorithm) + (1 | corpus), rows))

facets <- y ~ 1 + (1 | word) + (1 | pair) + (1 | model) + (1 | word:pair) + (1 | word:model) + (1 | pair:model)
for (name in c("layout", "layout_gaps")) {
  model <- fit(facets, read(name))
  goldens[[name]] <- list(variances = variances(model), criterion = REMLcrit(model), mean = fixef(model)[[1]])
}
goldens$versions <- list(
  R = R.version.string, lme4 = as.character(packageVersion("lme4")), lmerTest = as.character(packageVersion("lmerTest"))
)
write(toJSON(goldens, auto_unbox = TRUE, digits = NA, pretty = TRUE), arguments[2])
