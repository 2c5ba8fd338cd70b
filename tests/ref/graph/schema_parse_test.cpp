#include <gtest/gtest.h>

#include "ref/graph/error.h"
#include "ref/graph/schema.h"

namespace writeback {
namespace {

TEST(SchemaParse, ReadsNamesAndOverloads) {
  const Schema s = Schema::parse("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  EXPECT_EQ(s.ns, "aten");
  EXPECT_EQ(s.name, "add");
  EXPECT_EQ(s.overload, "Tensor");
  EXPECT_FALSE(s.arguments[1].keyword_only);
  EXPECT_TRUE(s.arguments[2].keyword_only);
  EXPECT_EQ(s.arguments[2].default_value, "1");
  EXPECT_EQ(Schema::parse("relu(Tensor self) -> Tensor").overload, "default");
}

TEST(SchemaParse, ReadsAliasAnnotations) {
  const auto alias_of = [](const std::string& type) { return Schema::parse("my::op(" + type + " x) -> ()").arguments[0].type; };
  EXPECT_EQ(*alias_of("Tensor(a)").alias, (AliasAnnotation{{"a"}, false, {}}));
  EXPECT_EQ(*alias_of("Tensor(a!)?").alias, (AliasAnnotation{{"a"}, true, {}}));
  EXPECT_EQ(*alias_of("Tensor(a -> *)").alias, (AliasAnnotation{{"a"}, false, {"*"}}));
  EXPECT_EQ(*alias_of("Tensor(a! -> a|b)").alias, (AliasAnnotation{{"a"}, true, {"a", "b"}}));
  EXPECT_EQ(*alias_of("Tensor(*)").alias, (AliasAnnotation{{"*"}, false, {}}));
  EXPECT_EQ(*alias_of("Tensor(!)").alias, (AliasAnnotation{{}, true, {}}));
  EXPECT_FALSE(alias_of("Tensor?[]").alias);
  EXPECT_TRUE(alias_of("Tensor?[]").is_list());
  EXPECT_FALSE(alias_of("Tensor(a!)[]").alias_on_list);
  EXPECT_TRUE(alias_of("t[](a!)").alias_on_list);
}

TEST(SchemaParse, PrintsWhatItRead) {
  for (const char* text : {
           "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
           "aten::topk.values(Tensor self, SymInt k, int dim=-1, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, "
           "Tensor(b!) indices)",
           "aten::_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()",
           "aten::conv2d(Tensor input, int[2] stride=[1, 1], str padding=\"a, b)\") -> Tensor",
           "aten::items.str(Dict(str, t) self) -> ((str, t)[])",
           "aten::dict.str((str, tVal)[] inputs) -> Dict(str, tVal)",
           "aten::format(str self, ...) -> str",
           "prim::TupleUnpack(Any tup) -> ...",
           "aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)",
           "quantized::f(__torch__.torch.classes.quantized.Packed x) -> Tensor",
       }) {
    EXPECT_EQ(Schema::parse(text).text(), text);
  }
}

TEST(SchemaParse, RefusesWhatIsNoSchema) {
  for (const char* text : {"", "op", "op(", "op()", "op() ->", "op(Tensor) -> ()", "op(Tensor x,) -> ()", "op(Tensor(a x) -> ()",
                           "op(Tensor(a!)(b) x) -> ()", "op(Tensor x) -> () more", "op(int x=[1) -> ()", "op(int x=\") -> ()",
                           "op(Tensor[ x) -> ()", "a::b::c() -> ()", "op(Tensor()) -> ()"}) {
    EXPECT_THROW(Schema::parse(text), InputError) << text;
  }
  try {
    Schema::parse("my::op(Tensor) -> ()");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.place(), "column 14");
    EXPECT_NE(std::string(e.what()).find("expected an argument name"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace writeback
