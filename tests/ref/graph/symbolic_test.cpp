#include "ref/graph/symbolic.h"

#include <gtest/gtest.h>

namespace writeback {
namespace {

constexpr SymRange kUnbounded;

std::optional<std::int64_t> value(const std::string& text, std::int64_t s0, std::int64_t s1 = 0) {
  return SymInt::parse(text).evaluate([&](const std::string& name) -> std::optional<std::int64_t> {
    if (name == "s0") return s0;
    if (name == "s1") return s1;
    return std::nullopt;
  });
}

SymRange bounds(const std::string& text, SymRange s0, SymRange s1 = {}) {
  return SymInt::parse(text).bounds({{"s0", s0}, {"s1", s1}});
}

TEST(Symbolic, NumbersAreNumbers) {
  EXPECT_TRUE(SymInt::parse("42").is_number());
  EXPECT_EQ(SymInt::parse(" -7 ").number(), -7);
  EXPECT_EQ(SymInt::parse("Integer(3)"), SymInt(3));
}

TEST(Symbolic, PrintsWhatTorchPrinted) {
  for (const auto* text : {"s0", "s0 + 1", "((s0//2)) + 1", "Max(s0, s1)", "(Mod(s0 + s1, 3)) + 1", "s0*(s1 + s2)", "2*s0 - 1"}) {
    EXPECT_EQ(SymInt::parse(text).text(), text);
  }
}

/// Pairs that torch 2.13 wrote: into the archive, and into the text.
TEST(Symbolic, SympySpellingPrintsAsTorchPrintsIt) {
  const std::string s0 = "Symbol('s0', positive=True, integer=True)", s1 = "Symbol('s1', integer=True)";
  const auto printed = [](const std::string& text) { return SymInt::parse(text).text(); };
  EXPECT_EQ(printed(s0), "s0");
  EXPECT_EQ(printed("Add(FloorDiv(Add(" + s0 + ", Integer(-2)), Integer(3)), Integer(1))"), "(((s0 - 2)//3)) + 1");
  EXPECT_EQ(printed("Add(Mul(" + s0 + ", Pow(" + s1 + ", Integer(2))), Mul(Integer(-1), Integer(2), " + s0 + "), Integer(7))"),
            "s0*s1**2 - 2*s0 + 7");
  EXPECT_EQ(printed("Add(Mod(Add(" + s0 + ", " + s1 + "), Integer(3)), Integer(1))"), "(Mod(s0 + s1, 3)) + 1");
  EXPECT_EQ(printed("Mul(FloorDiv(" + s0 + ", Integer(2)), FloorDiv(" + s1 + ", Integer(3)))"), "((s0//2))*((s1//3))");
  EXPECT_EQ(printed("FloorDiv(Add(Mul(Integer(2), " + s0 + "), Integer(2)), Integer(3))"), "((2*s0 + 2)//3)");
  EXPECT_EQ(printed("Mul(" + s0 + ", Add(" + s0 + ", " + s1 + "))"), "s0*(s0 + s1)");
  EXPECT_EQ(printed("Add(Mul(Integer(-1), " + s0 + "), Pow(" + s1 + ", Integer(2)))"), "-s0 + s1**2");
  EXPECT_EQ(printed("LessThan(Piecewise(ExprCondPair(Integer(1), Equality(" + s0 +
                    ", Integer(1))), ExprCondPair(Integer(0), true)), Integer(1))"),
            "Piecewise((1, Eq(s0, 1)), (0, True)) <= 1");
}

TEST(Symbolic, EvaluatesWithPythonsRounding) {
  EXPECT_EQ(value("s0 + 2*s1 - 1", 3, 5), 12);
  EXPECT_EQ(value("(s0//2)", -3), -2);
  EXPECT_EQ(value("Mod(s0, 3)", -4), 2);
  EXPECT_EQ(value("Max(s0, s1, 4)", 3, 5), 5);
  EXPECT_EQ(value("floor(s0/2)", 7), 3);
  EXPECT_EQ(value("ceiling(s0/2)", 7), 4);
  EXPECT_EQ(value("s0/2", 7), std::nullopt);
  EXPECT_EQ(value("-s0**2", 3), -9);
  EXPECT_EQ(value("Add(Symbol('s0', integer=True), Integer(1))", 3), 4);
}

TEST(Symbolic, NoValueWithoutSymbolOnOverflowOrDivisionByZero) {
  EXPECT_EQ(value("s0 + q", 1), std::nullopt);
  EXPECT_EQ(value("s0*s0", std::int64_t{1} << 40), std::nullopt);
  EXPECT_EQ(value("(s0//s1)", 1, 0), std::nullopt);
  EXPECT_EQ(value("s0**100", 2), std::nullopt);
  EXPECT_EQ(value("Unheard(s0)", 1), std::nullopt);
}

TEST(Symbolic, BoundsHoldEveryValue) {
  EXPECT_EQ(bounds("2*s0 + 1", {2, 9}), (SymRange{5, 19}));
  EXPECT_EQ(bounds("-s0 + s1", {2, 9}, {0, 1}), (SymRange{-9, -1}));
  EXPECT_EQ(bounds("(s0//2)", {-3, 9}), (SymRange{-2, 4}));
  EXPECT_EQ(bounds("Mod(s0, 4)", {0, 99}), (SymRange{0, 3}));
  EXPECT_EQ(bounds("Min(s0, 5)", {2, kUnbounded.max}), (SymRange{2, 5}));
  EXPECT_EQ(bounds("s0*s1", {2, kUnbounded.max}, {3, 4}), (SymRange{6, kUnbounded.max}));
  EXPECT_EQ(bounds("s0*s0", {0, std::int64_t{1} << 40}), (SymRange{0, kUnbounded.max}));
  EXPECT_EQ(bounds("Unheard(s0)", {1, 1}), kUnbounded);
  EXPECT_EQ(bounds("q", {1, 1}), kUnbounded);
}

/// The intervals hold the values at every point of small ranges.
TEST(Symbolic, BoundsAgreeWithValues) {
  for (const std::string text :
       {"s0*s1 - (s0//3)", "Mod(s0 - s1, 5)", "Max(s0, -s1)*2", "(s0*s0//4) + s1", "ceiling(s0/3)", "s0**3"}) {
    const SymRange range = bounds(text, {0, 6}, {-3, 3});
    for (std::int64_t s0 = 0; s0 <= 6; ++s0) {
      for (std::int64_t s1 = -3; s1 <= 3; ++s1) {
        const auto v = value(text, s0, s1);
        ASSERT_TRUE(v) << text;
        EXPECT_TRUE(range.min <= *v && *v <= range.max) << text << " = " << *v << " at " << s0 << ", " << s1;
      }
    }
  }
}

TEST(Symbolic, WhatIsNoExpressionIsAnOpaqueSymbol) {
  for (const std::string text : {"", "s0 +", "a b", "(((", "s0 > 1", "'x'"}) {
    EXPECT_EQ(SymInt::parse(text).text(), text);
    EXPECT_EQ(SymInt::parse(text).symbols().size(), 1u) << text;
  }
}

TEST(Symbolic, DepthAndLengthAreLimited) {
  EXPECT_EQ(SymInt::parse(std::string(100'000, '(')).symbols().size(), 1u);
  EXPECT_EQ(SymInt::parse(std::string(50'000, '-') + "s0").symbols().size(), 1u);
  std::string sum = "s0", quotient = "s0";
  for (int i = 0; i < 5000; ++i) sum += " + s0", quotient += "//s0";
  EXPECT_EQ(value(sum, 2), 10002);
  EXPECT_EQ(value(quotient, 2), std::nullopt);
}

TEST(Symbolic, SymbolsComeOnceInOrder) {
  EXPECT_EQ(SymInt::parse("s1*(s0 + s1) + u3").symbols(), (std::vector<std::string>{"s1", "s0", "u3"}));
}

TEST(Symbolic, AProductIsSeenInAnySpelling) {
  const auto product = [](const char* a, std::vector<const char*> factors) {
    std::vector<SymInt> all;
    for (const char* f : factors) all.push_back(SymInt::parse(f));
    return is_product(SymInt::parse(a), all);
  };
  EXPECT_TRUE(product("1", {}));
  EXPECT_TRUE(product("12", {"3", "4"}));
  EXPECT_TRUE(product("4*s0", {"s0", "4"}));
  EXPECT_TRUE(product("Mul(Integer(4), Symbol('s1', integer=True), Symbol('s0', integer=True))", {"s0", "s1", "4"}));
  EXPECT_TRUE(product("4*s0 + 4", {"s0 + 1", "4"}));
  EXPECT_TRUE(product("s0**2 - 1", {"s0 + 1", "s0 - 1"}));
  EXPECT_TRUE(product("3*((s0//2))", {"(s0//2)", "3"}));
  EXPECT_FALSE(product("s0", {"s1"}));
  EXPECT_FALSE(product("4*s0 + 1", {"s0 + 1", "4"}));
  EXPECT_FALSE(product("s0", {"(s0//2)", "2"})) << "an odd s0";
  EXPECT_FALSE(product("9223372036854775807", {"9223372036854775807", "3"}));
}

}  // namespace
}  // namespace writeback
