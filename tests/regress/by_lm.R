# Norms of coefficients by R: Rscript tests/regress/by_lm.R occurrences.csv
#
# occurrences.csv has a row for each occurrence: party, gender, nominate_dim1, then its embedding (d1, d2, …), as
# test_regress.py writes it. Printed: squared norm, its bias (trace of the HC1 covariance) and the corrected norm.
rows <- read.csv(commandArgs(TRUE)[1], stringsAsFactors = TRUE)
outcomes <- as.matrix(rows[, grepl("^d[0-9]+$", names(rows))])
for (formula in c(~ nominate_dim1, ~ party * gender, ~ party * nominate_dim1, ~ gender + nominate_dim1 + I(nominate_dim1^2))) {
  design <- model.matrix(formula, rows)
  fit <- lm.fit(design, outcomes)
  hat <- solve(crossprod(design)) %*% t(design)
  norm2 <- rowSums(fit$coefficients^2)
  bias <- drop(hat^2 %*% rowSums(fit$residuals^2)) * nrow(design) / (nrow(design) - ncol(design))
  print(cbind(norm2, bias, corrected = norm2 - bias)[-1, , drop = FALSE], digits = 10)
}
