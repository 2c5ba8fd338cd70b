// The program `writeback` as its users meet it: exit statuses, messages that name the place, and the JSON of each command.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace {

namespace fs = std::filesystem;

const fs::path kTests = WRITEBACK_TESTS_DIR;

struct Answer {
  int status = -1;
  std::string out;  ///< stdout and stderr
};

Answer run(const std::string& arguments, const std::string& redirect = "2>&1") {
  Answer answer;
  FILE* pipe = popen((std::string(WRITEBACK_PROGRAM) + " " + arguments + " " + redirect).c_str(), "r");
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) answer.out.append(buffer, n);
  const int status = pclose(pipe);
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

nlohmann::json json_of(const std::string& arguments) {
  return nlohmann::json::parse(run(arguments + " --json", "2>/dev/null").out);
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A file of this content in the test's own folder, under a name that no other test uses: they run side by side.
std::string file_with(const std::string& name, const std::string& content) {
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
  const fs::path path = fs::path(testing::TempDir()) / ("writeback_cli_" + test + "_" + name);
  std::ofstream(path, std::ios::binary) << content;
  return path.string();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string corpus(const std::string& name) { return (kTests / "corpus" / name).string(); }

struct BadInput {
  std::string name, content, message;
};

TEST(Cli, BadInputIsRefusedWithItsPlaceAndExitStatusTwo) {
  const std::string good = contents(corpus("plain-accumulator.txt"));
  const std::string archive = contents(kTests / "models" / "counter.pt2");
  std::string shuffled = archive;
  for (std::size_t i = shuffled.size() / 3; i + 64 < shuffled.size() / 2; ++i) std::swap(shuffled[i], shuffled[i + 32]);
  const std::vector<BadInput> all{
      {"truncated.pt2", archive.substr(0, archive.size() / 2), "archive"},
      {"shuffled.pt2", shuffled, ""},
      {"empty.txt", "", "expected"},
      {"cut.txt", good.substr(0, good.find("mul.Scalar") + 12), ""},
      {"use_before.txt", replaced(good, "mul.Scalar(new", "mul.Scalar(late"), "late"},
      {"unknown_target.txt", replaced(good, "target='a'\n    z", "target='zzz'\n    z"), "zzz"},
      {"duplicate.txt", replaced(good, "y: \"f32", "new: \"f32"), "new"},
      {"arity.txt", replaced(good, "neg.default(y)", "neg.default(y, y, y)"), "neg"},
      {"no_json.json", "{\"graph_module\": ", ""},
      {"schema.json", "{\"schema_version\": {\"major\": 99, \"minor\": 1}, \"graph_module\": {}}", "99"},
  };
  for (const BadInput& bad : all) {
    const std::string path = file_with(bad.name, bad.content);
    for (const std::string command : {"place", "check", "run", "plan"}) {
      const Answer answer = run(command + " " + path);
      EXPECT_EQ(answer.status, 2) << command << " " << bad.name << ": " << answer.out;
      EXPECT_NE(answer.out.find(bad.message), std::string::npos) << bad.name << ": " << answer.out;
      EXPECT_NE(answer.out.find(bad.name), std::string::npos) << "the message names the file: " << answer.out;
    }
  }
}

TEST(Cli, UsageErrorsAreExitStatusTwo) {
  EXPECT_EQ(run("").status, 2);
  EXPECT_EQ(run("place").status, 2);
  EXPECT_EQ(run("place --lowering sideways " + corpus("plain-accumulator.txt")).status, 2);
  EXPECT_EQ(run("place /nonexistent/file").status, 2);
  EXPECT_EQ(run("prove --solver z3 --check-proofs").status, 2) << "the proofs are another solver's";
  EXPECT_EQ(run("--help").status, 0);
  EXPECT_EQ(run("place --help").status, 0);
}

TEST(Cli, PlaceThenCheckIsSafeAndALateReaderIsNot) {
  const std::string placed = file_with("placed.txt", "");
  ASSERT_EQ(run("place " + corpus("view-copy-read-after.txt") + " -o " + placed).status, 0);
  EXPECT_EQ(run("check " + corpus("view-copy-read-after.txt") + " " + placed).status, 0);
  EXPECT_EQ(run("check " + placed).status, 0);

  std::string text = contents(placed);
  const std::size_t copy = text.find("            copy_"), end = text.find('\n', copy) + 1;
  const std::string line = text.substr(copy, end - copy);
  text.erase(copy, end - copy).insert(text.find("            y:"), line);
  const auto json = json_of("check " + corpus("view-copy-read-after.txt") + " " + file_with("early.txt", text));
  EXPECT_EQ(json["verdict"], "unsafe");
  EXPECT_EQ(json["hazards"][0]["rule"], "reads_target");
  EXPECT_EQ(json["hazards"][0]["node"], "y");
}

TEST(Cli, ACopyBeforeItsValueIsComputedIsUnsafe) {
  const std::string program = corpus("view-copy-read-after.txt");
  const std::string placed = file_with("placed.txt", "");
  ASSERT_EQ(run("place " + program + " -o " + placed).status, 0);
  std::string text = contents(placed);
  const std::size_t copy = text.find("            copy_"), end = text.find('\n', copy) + 1;
  const std::string line = text.substr(copy, end - copy);
  text.erase(copy, end - copy).insert(text.find("            v:"), line);
  const Answer answer = run("check " + program + " " + file_with("early.txt", text));
  EXPECT_EQ(answer.status, 1) << answer.out;
  EXPECT_NE(answer.out.find("computes_value"), std::string::npos) << answer.out;
  EXPECT_EQ(run("check " + file_with("early.txt", text)).status, 2) << "alone it is no program";
}

TEST(Cli, PlaceEmitsWhatAnOutsideImplementationIsSent) {
  const auto request = nlohmann::json::parse(run("place " + corpus("swap-buffers.txt") + " --emit request").out);
  EXPECT_EQ(request["options"]["lowering"], "executorch");
  EXPECT_EQ(run("place " + file_with("sent.json", request["program"].dump())).status, 0) << "the program in it is read again";
}

/// The answers to a batch of the command: one line each.
std::vector<nlohmann::json> batch(const std::string& command, const std::string& requests) {
  std::istringstream out(run(command + " - --batch < " + file_with("batch.jsonl", requests), "2>/dev/null").out);
  std::vector<nlohmann::json> answers;
  for (std::string line; std::getline(out, line);) answers.push_back(nlohmann::json::parse(line));
  return answers;
}

TEST(Cli, ABatchAnswersEachLineAsTheCommandAloneWould) {
  const std::string swap = nlohmann::json{{"program", contents(corpus("swap-buffers.txt"))}, {"seed", 3}}.dump() + "\n";
  const std::string requests = swap + "{\n[]\n{\"program\": \"\"}\n" + swap;
  for (const auto& [command, alone] : {std::pair{"place", "place "}, {"run", "run --seed 3 "}}) {
    const auto answers = batch(command, requests);
    ASSERT_EQ(answers.size(), 5u) << command;
    EXPECT_EQ(answers[0], json_of(alone + corpus("swap-buffers.txt"))) << command;
    for (std::size_t wrong : {1, 2, 3}) EXPECT_TRUE(answers[wrong].contains("error")) << answers[wrong];
    EXPECT_EQ(answers[4], answers[0]) << "a wrong line does not end the batch";
  }
}

TEST(Cli, PlaceTellsEachCopyByName) {
  const auto json = json_of("place " + corpus("swap-buffers.txt"));
  ASSERT_EQ(json["copies"].size(), 2u);
  EXPECT_EQ(json["copies"][0]["target"], "b_a");
  EXPECT_EQ(json["copies"][0]["after"], "start");
  EXPECT_EQ(json["temporaries"].size(), 1u);
  EXPECT_EQ(json["clobbered"][0]["by"], "b_a");
}

/// The first example of the README, pasted as it stands there: a signature without its head, and of it the outputs alone.
TEST(Cli, TheExampleOfTheReadmeIsPlacedAsTold) {
  const std::string readme = contents(kTests.parent_path() / "README.md");
  const auto block = [&](std::size_t from) {
    const std::size_t begin = readme.find("```\n", from) + 4;
    return std::pair{readme.substr(begin, readme.find("```", begin) - begin), readme.find("```", begin) + 3};
  };
  const auto [in, end] = block(0);
  const auto [out, after] = block(end);
  const Answer placed = run("place " + file_with("readme.txt", in), "2>/dev/null");
  EXPECT_EQ(placed.status, 0);
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) EXPECT_NE(placed.out.find(line + "\n"), std::string::npos) << line;
}

TEST(Cli, APlacementFileIsJudged) {
  const std::string program = corpus("view-copy-read-after.txt");
  auto json = json_of("place " + program);
  EXPECT_EQ(run("check " + program + " --placement " + file_with("p.json", json.dump())).status, 0);
  auto& copy = json["copies"][0];
  copy["after"] = "new";
  const Answer both = run("check " + program + " --placement " + file_with("q.json", json.dump()));
  EXPECT_EQ(both.status, 2);
  EXPECT_NE(both.out.find("/copies/0/slot: expected 2 as it is after 'new', found 3"), std::string::npos) << both.out;
  copy.erase("slot");
  EXPECT_EQ(run("check " + program + " --placement " + file_with("q.json", json.dump())).status, 1);
  copy.erase("after");
  copy["slot"] = 2;
  EXPECT_EQ(run("check " + program + " --placement " + file_with("q.json", json.dump())).status, 1);
  copy["slot"] = 200;
  EXPECT_EQ(run("check " + program + " --placement " + file_with("q.json", json.dump())).status, 2);
}

TEST(Cli, APlacementOfAnotherProgramIsRefused) {
  auto json = json_of("place " + corpus("swap-buffers.txt"));
  std::swap(json["copies"][0]["target"], json["copies"][1]["target"]);
  const Answer answer = run("check " + corpus("swap-buffers.txt") + " --placement " + file_with("p.json", json.dump()));
  EXPECT_EQ(answer.status, 2);
  EXPECT_NE(answer.out.find("/copies/0/target: expected b_a by the program's outputs, found b_b"), std::string::npos) << answer.out;
}

/// m reads the old state, but nobody sees what it writes.
constexpr const char* kUnobservedWriter = R"(ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, b_a: "f32[4]", x: "f32[4]"):
            w: "f32[4]" = torch.ops.aten.clone.default(x)
            m: "f32[4]" = torch.ops.aten.mul_.Tensor(w, b_a)
            return (x)

Graph signature: 
    # inputs
    b_a: BUFFER target='a' persistent=True
    x: USER_INPUT

    # outputs
    x: BUFFER_MUTATION target='a'

Range constraints: {}
)";

TEST(Cli, ProveReadsItsProgramBeforeItProvesAnything) {
  const Answer answer = run("prove " + file_with("no_program.txt", "nothing\n"));
  EXPECT_EQ(answer.status, 2);
  EXPECT_EQ(answer.out.find("proved"), std::string::npos) << answer.out;
}

TEST(Cli, ACopyThatIsTooEarlyIsRefutedOrItsBlockerIsUnobserved) {
  const auto before = [](const std::string& program, const std::string& node) {
    auto json = json_of("place " + program);
    json["copies"][0]["after"] = node;
    json["copies"][0].erase("slot");
    return run("prove " + program + " --placement " + file_with("earlier.json", json.dump()));
  };
  const Answer seen = before(corpus("view-copy-read-after.txt"), "new");
  EXPECT_EQ(seen.status, 1);
  EXPECT_NE(seen.out.find("z3+cvc5+interpreter"), std::string::npos) << seen.out;
  const Answer unseen = before(file_with("unobserved.txt", kUnobservedWriter), "w");
  EXPECT_EQ(unseen.status, 0);
  EXPECT_NE(unseen.out.find("the rules refuse it (reads_target at %m): the blocker is unobserved"), std::string::npos)
      << unseen.out;
}

TEST(Cli, RunComputesTheState) {
  const std::string inputs = file_with("inputs.json", R"({"b_a": [1, 2, 3, 4], "x": [10, 20, 30, 40]})");
  for (const std::string at : {"end", "earliest"}) {
    const auto json = json_of("run " + corpus("plain-accumulator.txt") + " --inputs " + inputs + " --at " + at);
    EXPECT_EQ(json["state"]["b_a"], nlohmann::json({11, 22, 33, 44})) << at;
    EXPECT_EQ(json["outputs"][0], nlohmann::json({-22, -44, -66, -88})) << at;
  }
}

TEST(Cli, RunTakesNumbersForSymbolicSizes) {
  const std::string program = (kTests / "models" / "running_mean.decomposed.pt2").string();
  const Answer without = run("run " + program);
  EXPECT_EQ(without.status, 2);
  EXPECT_NE(without.out.find("size s77: a run needs a number for every size"), std::string::npos) << without.out;
  const auto json = json_of("run " + program + " --size s77=2");
  EXPECT_EQ(json["inputs"]["x"].size(), 6u);
  EXPECT_EQ(json["outputs"][0].size(), 6u);
  EXPECT_EQ(run("run " + program + " --size s77=many").status, 2);
  for (const std::string command : {"run ", "plan "}) {
    const Answer outside = run(command + program + " --size s77=65");
    EXPECT_EQ(outside.status, 2) << command;
    EXPECT_NE(outside.out.find("size s77: expected a number from 2 to 64, found 65"), std::string::npos) << outside.out;
  }
}

TEST(Cli, PlanNeedsNoMoreForEarlyCopiesOfTheDecoder) {
  const auto json = json_of("plan " + (kTests / "models" / "decoder.edge.txt").string());
  const auto& placements = json["placements"];
  EXPECT_LT(placements["earliest"]["executorch_fixed"], placements["end"]["executorch"]);
  EXPECT_LE(placements["forwarded"]["bound"], placements["earliest"]["bound"]);
  EXPECT_LE(placements["earliest"]["bound"], placements["earliest"]["best"]);
}

/// A row of tests/models/README.md without the name: "| earliest | 1,048,832 | 623,952 | 623,696 | 623,696 |".
std::string row_of(const std::string& placement, const nlohmann::json& bytes) {
  std::string row = "| " + placement + " |";
  for (const std::string planner : {"executorch", "executorch_fixed", "best", "bound"}) {
    std::string digits = std::to_string(bytes[planner].get<long long>());
    for (int i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3) digits.insert(static_cast<std::size_t>(i), ",");
    row += " " + digits + " |";
  }
  return row;
}

TEST(Cli, TheTableOfModelsIsWhatPlanMeasures) {
  const std::string table = contents(kTests / "models" / "README.md");
  std::size_t models = 0, at = table.find("| model |");
  for (const fs::path& path : std::set<fs::path>(fs::directory_iterator(kTests / "models"), {})) {
    const std::string name = path.filename().string();
    const bool packed = path.extension() == ".gz";
    if (name.find(".edge.txt") == std::string::npos) continue;
    const std::string unpacked = packed ? file_with("unpacked.txt", "") : path.string();
    ASSERT_EQ(packed ? std::system(("gzip -dc " + path.string() + " > " + unpacked).c_str()) : 0, 0);
    const auto placements = json_of("plan " + unpacked)["placements"];
    std::string rows = "| " + name.substr(0, name.find('.')) + " ";
    for (const std::string placement : {"end", "earliest", "forwarded", "coalesced"})
      rows += (placement == "end" ? "" : "|  ") + row_of(placement, placements[placement]) + "\n";
    at = table.find(rows, at);
    ASSERT_NE(at, std::string::npos) << "python tests/models/memory_table.py makes it anew; missing or not in order:\n" << rows;
    at += rows.size();
    ++models;
  }
  EXPECT_GE(models, 24u);
  EXPECT_EQ(at, table.size()) << "rows of what is not there";
}

TEST(Cli, ALongerSearchIsNoWorse) {
  const std::string program = (kTests / "models" / "decoder.edge.txt").string();
  const auto quick = json_of("plan " + program)["placements"], longer = json_of("plan --search 0.01 " + program)["placements"];
  for (const auto& [placement, bytes] : quick.items()) EXPECT_LE(longer[placement]["best"], bytes["best"]) << placement;
  EXPECT_EQ(run("plan --search -1 " + program).status, 2);
}

TEST(Cli, NothingIsHalfWritten) {
  const std::string target = file_with("kept.txt", "as it was");
  EXPECT_EQ(run("place " + file_with("bad.txt", "class") + " -o " + target).status, 2);
  EXPECT_EQ(contents(target), "as it was");
}

}  // namespace
