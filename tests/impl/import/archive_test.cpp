// Archives of every layout and age, whole and damaged.
#include <algorithm>
#include <sstream>

#include "impl/import/import.h"
#include "ref/graph/text.h"
#include "tests/impl/import/files.h"

namespace writeback::impl {
namespace {

std::string plain_text(const Program& program) { return print_text(stripped(program)); }

std::string alias_lines(const Program& program) {
  std::string lines;
  std::istringstream text(print_text(program));
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("# alias:")) lines += line + "\n";
  }
  return lines;
}

TEST(Archive, GivesWhatThePrintedTextOfTheProgramGives) {
  std::size_t pairs = 0;
  for (const auto& file : std::filesystem::directory_iterator(models())) {
    std::filesystem::path text = file.path();
    if (text.extension() != ".pt2" || !std::filesystem::exists(text.replace_extension(".txt"))) continue;
    ++pairs;
    EXPECT_EQ(plain_text(read_archive(bytes_of(file.path()))), plain_text(read_text(bytes_of(text)))) << file.path();
  }
  EXPECT_GE(pairs, 24u);
}

TEST(Archive, FillsStridesOffsetsAndDevices) {
  const Program program = read_archive(archive_bytes("folder_8_20.pt2"));
  const TensorMeta* part = tensor_meta(program.graph.meta_of(*find_value(program.graph, "b_part")));
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->strides, std::vector<SymInt>{1});
  EXPECT_EQ(part->storage_offset, SymInt(2));
  EXPECT_EQ(part->device, "cpu");
}

TEST(Archive, TellsWhichBuffersShareAStorageInEveryLayout) {
  for (const char* name :
       {"folder_8_20.pt2", "folder_8_10.pt2", "flat_8_7.pt2", "flat_8_7_deflated.pt2", "deflated.pt2", "repacked.pt2"}) {
    const Program program = read_archive(archive_bytes(name));
    EXPECT_EQ(alias_lines(program), "# alias: b_part = b_whole[2; 4; 1]\n") << name;
    EXPECT_TRUE(program.warnings.empty()) << name;
  }
}

TEST(Archive, OfOldLayoutsGivesTheSameProgram) {
  const std::string expected = plain_text(read_archive(archive_bytes("folder_8_20.pt2")));
  for (const char* name : {"folder_8_10.pt2", "flat_8_7.pt2"})
    EXPECT_EQ(plain_text(read_archive(archive_bytes(name))), expected) << name;
  EXPECT_EQ(plain_text(read_archive(archive_bytes("flat_2.pt2"))), plain_text(read_json(archive_bytes("counter.json"))));
}

TEST(Archive, WithoutBytesTellsNothingOfSharing) { EXPECT_TRUE(read_archive(archive_bytes("no_bytes.pt2")).alias_groups.empty()); }

TEST(Archive, WarnsWhereThePickleIsNotUnderstood) {
  const Program program = read_archive(archive_bytes("flat_8_7_odd_pickle.pt2"));
  EXPECT_TRUE(program.alias_groups.empty());
  ASSERT_EQ(program.warnings.size(), 1u);
  EXPECT_NE(program.warnings[0].find("serialized_state_dict.pt"), std::string::npos);
}

TEST(Archive, WithSeveralModelsWantsAName) {
  const std::string bytes = archive_bytes("two_models.pt2");
  EXPECT_NE(error_of([&] { read_archive(bytes); }).find("name one of first, second"), std::string::npos);
  EXPECT_NE(error_of([&] { read_archive(bytes, {"third"}); }).find("first, second"), std::string::npos);
  EXPECT_EQ(alias_lines(read_archive(bytes, {"first"})), "# alias: b_part = b_whole[2; 4; 1]\n");
  EXPECT_TRUE(find_value(read_archive(bytes, {"second"}).graph, "b_count"));
}

TEST(Archive, OfCompiledCodeSaysThatItHoldsNoProgram) {
  EXPECT_NE(error_of([] { read_archive(archive_bytes("aotinductor_only.pt2")); }).find("AOTInductor"), std::string::npos);
}

TEST(Archive, CutAnywhereIsRefused) {
  const std::string bytes = archive_bytes("folder_8_20.pt2");
  for (std::size_t size = 1; size < bytes.size(); size += 37) {
    const std::string error = error_of([&] { read_archive(bytes.substr(0, size)); });
    EXPECT_NE(error.find("expected a whole zip archive"), std::string::npos) << size;
  }
}

TEST(Archive, ShuffledNamesTheArchiveOrItsEntry) {
  std::string bytes = archive_bytes("folder_8_20.pt2");
  std::rotate(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end());
  EXPECT_NE(error_of([&] { read_archive(bytes); }).find("archive: expected"), std::string::npos);

  bytes = archive_bytes("folder_8_20.pt2");
  const std::size_t key = bytes.find("\"nodes\"");
  bytes.replace(key, 7, "\"xodes\"");
  EXPECT_EQ(error_of([&] { read_archive(bytes); }),
            "two_views/models/model.json: /graph_module/graph/nodes: expected an array, found nothing");
}

TEST(Archive, OfAnotherFormatIsRefused) {
  std::string bytes = archive_bytes("folder_8_20.pt2");
  const std::size_t format = bytes.find("pt2", bytes.find("two_views/archive_format"));
  bytes.replace(format, 3, "pt3");
  EXPECT_EQ(error_of([&] { read_archive(bytes); }), "two_views/archive_format: expected 'pt2', found 'pt3'");
}

TEST(Program, IsToldByItsContent) {
  EXPECT_TRUE(find_value(read_program_file(archive_path("folder_8_20.pt2")).graph, "b_part"));
  EXPECT_TRUE(find_value(read_program_file(archive_path("counter.json")).graph, "b_count"));
  EXPECT_TRUE(find_value(read_program_file(archive_path("executorch_5_4.txt")).graph, "b_count"));
}

TEST(Program, NamesTheFileThatIsBad) {
  EXPECT_EQ(error_of([] { read_program_file("/nowhere.pt2"); }), "/nowhere.pt2: cannot be opened: No such file or directory");
  EXPECT_EQ(error_of([] { read_program_file(archive_path("")); }), archive_path("").string() + ": expected a file, found a folder");
  EXPECT_TRUE(error_of([] { read_program("PK\3\4", "x.pt2"); }).starts_with("x.pt2: archive: expected a whole zip archive"));
}

}  // namespace
}  // namespace writeback::impl
