# Rscript make_psych_goldens.R: what the R package psych says about the tables here (R 4.2.2, psych 2.2.9).
suppressMessages(library(psych))
options(digits = 15)
read <- function(name) as.matrix(read.csv(paste0(name, ".csv"), header = FALSE))

icc <- do.call(rbind, lapply(c("scores", "noise"), function(name) {
  found <- suppressWarnings(ICC(read(name), lmer = FALSE)$results)
  data.frame(table = name, type = found$type, value = found$ICC, low = found$`lower bound`,
             high = found$`upper bound`, f = found$F, df1 = found$df1, df2 = found$df2, p = found$p)
}))
write.csv(format(icc, digits = 15), "psych_icc.csv", row.names = FALSE, quote = FALSE)

items <- read("items")
found <- suppressWarnings(alpha(items))
factor <- fa(items, nfactors = 1, fm = "minres")
spread <- apply(items, 2, sd)
loading <- as.vector(factor$loadings)
common <- sum(loading * spread)^2
omega <- common / (common + sum(spread^2 * (1 - loading^2)))
internal <- data.frame(
  alpha = found$total$raw_alpha, low = found$feldt$lower.ci, high = found$feldt$upper.ci, omega = omega,
  setNames(as.list(loading), paste0("loading", seq_along(loading)))
)
names(internal)[2:3] <- c("low", "high")
write.csv(format(internal, digits = 15), "psych_internal.csv", row.names = FALSE, quote = FALSE)

# Plain kappa alone: psych's variance of the weighted one is not that of Fleiss, Cohen & Everitt.
found <- cohen.kappa(read("labels")[, 1:2])$confid["unweighted kappa", ]
kappa <- data.frame(value = found[["estimate"]], low = found[["lower"]], high = found[["upper"]])
write.csv(format(kappa, digits = 15), "psych_kappa.csv", row.names = FALSE, quote = FALSE)
