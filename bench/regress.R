# Embedding regression of single occurrences in base R, as conText does it once they are embedded.
#
#     Rscript bench/regress.R FOLDER PERMUTATIONS
#
# FOLDER holds design.bin and outcomes.bin: two whole numbers (rows, columns), then doubles by row. Printed: seconds of
# the clock and of the processor, then the squared norm of each coefficient and its bias (HC1).
arguments <- commandArgs(TRUE)
read_matrix <- function(name) {
  file <- file(file.path(arguments[1], name), "rb")
  on.exit(close(file))
  shape <- readBin(file, "integer", 2)
  matrix(readBin(file, "double", prod(shape)), shape[1], shape[2], byrow = TRUE)
}
design <- read_matrix("design.bin")
outcomes <- read_matrix("outcomes.bin")
started <- proc.time()
hat <- solve(crossprod(design)) %*% t(design)
coefficients <- hat %*% outcomes
norm2 <- rowSums(coefficients^2)
squares <- rowSums((outcomes - design %*% coefficients)^2)
bias <- drop(hat^2 %*% squares) * nrow(design) / (nrow(design) - ncol(design))
exceeding <- numeric(ncol(design))
for (draw in seq_len(as.integer(arguments[2]))) {
  exceeding <- exceeding + (rowSums((hat %*% outcomes[sample(nrow(outcomes)), ])^2) > norm2)
}
used <- proc.time() - started
cat(format(used[["elapsed"]], digits = 3), format(used[["user.self"]] + used[["sys.self"]], digits = 3), "\n")
cat(format(norm2, digits = 12), "\n")
cat(format(bias, digits = 12), "\n")
