"""Du, Fang & Nguyen 2021: how reliable are measures of gender bias?"""
