// The table, JSON and Graphviz of analyses made by hand.
#include "report/view.hpp"
#include "subject.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace nth::stack {
namespace {

using nlohmann::json;

json json_of(const analysis &a, const report_options &options) {
  return json::parse(text_of([&](std::ostream &out) { write_json(out, a, options); }));
}

json function_named(const json &report, std::string_view name) {
  for (const json &f : report.at("functions"))
    if (f.at("name") == name)
      return f;
  ADD_FAILURE() << "no function " << name;
  return {};
}

std::string table_of(const analysis &a, const report_options &options) {
  return text_of([&](std::ostream &out) { write_table(out, a, options); });
}

TEST(table, figure_1_of_the_paper) {
  const analysis a = figure_1();
  const auto line = [&](std::uint32_t node, const char *text) {
    return text + (a.needs.needs[node].reason.empty() ? "" : "          " + a.needs.needs[node].reason) +
           "\n";
  };
  EXPECT_TRUE(table_of(a, {}).starts_with(
      "function                                        frame      need   segment  certainty  blocks  why\n" +
      line(1, "B                                                  16         -        48  unbounded") +
      line(3, "D                                                  16         -        32  unbounded") +
      line(4, "E                                                  16         -        16  unbounded") +
      line(0, "start                                              16         -        64  unbounded") +
      line(2, "C                                                  32        32        32  proved")))
      << table_of(a, {});
}

TEST(table, summary_counts) {
  const std::string table = table_of(figure_1(), {});
  EXPECT_NE(table.find("5 functions, 100.0 % with exact frames; need proved for 20.0 %, assumed for 0.0 %, "
                       "unbounded for 80.0 %\n"),
            std::string::npos);
  EXPECT_NE(table.find("largest bounded need: 32 bytes (32 B), C\n"), std::string::npos);
  EXPECT_NE(table.find("5 procedures, 6 call sites: 2 back edges, 4 forward edges, 0 indirect calls\n"),
            std::string::npos);
}

TEST(table, order_and_number_of_lines) {
  report_options options;
  options.sort = sort_order::name;
  options.top = 2;
  const std::string table = table_of(figure_1(), options);
  EXPECT_LT(table.find("\nB "), table.find("\nC "));
  EXPECT_EQ(table.find("\nD "), std::string::npos);
  EXPECT_NE(table.find("and 3 more"), std::string::npos);
}

TEST(table, libraries_only_where_they_are_asked_for) {
  report_options options;
  EXPECT_EQ(table_of(menagerie(), options).find("write_all"), std::string::npos);
  options.all_modules = true;
  EXPECT_NE(table_of(menagerie(), options).find("write_all [libx.so.1]"), std::string::npos);
  EXPECT_EQ(table_of(menagerie(), options).find("any of 2"), std::string::npos) << "a set is no function";
}

TEST(table, an_assumption_is_shown_where_it_holds) {
  const std::string table = table_of(menagerie(), {});
  const std::size_t line = table.find("\nodd");
  ASSERT_NE(line, std::string::npos);
  const std::string odd = table.substr(line, table.find('\n', line + 1) - line);
  EXPECT_NE(odd.find("assumed"), std::string::npos) << odd;
  EXPECT_NE(odd.find("virtual one"), std::string::npos) << odd;
}

TEST(chain, has_each_call_and_their_sum) {
  const std::string text = text_of([](std::ostream &out) { write_chain(out, menagerie(12), "step_11"); });
  EXPECT_NE(text.find("step_11: 288 bytes (288 B), proved"), std::string::npos) << text;
  EXPECT_NE(text.find("       104        104  step_11"), std::string::npos) << text;
  EXPECT_NE(text.find("prog 0x1b10"), std::string::npos) << text;
  EXPECT_NE(text.find("        96        200  step_10"), std::string::npos) << text;
}

TEST(chain, of_nothing_that_blocks_says_so) {
  const std::string text = text_of([](std::ostream &out) { write_blocking_chain(out, menagerie(), "main"); });
  EXPECT_EQ(text, "main: calls nothing that blocks, as far as its calls are known\n");
}

TEST(chain, a_name_that_is_not_there_is_refused_with_near_ones) {
  const std::string message =
      message_of([] { text_of([](std::ostream &out) { write_chain(out, menagerie(), "is_evem"); }); });
  EXPECT_NE(message.find("no function is_evem; is one of these meant: is_even"), std::string::npos)
      << message;
}

TEST(chain, a_function_is_found_by_each_of_its_names) {
  analysis a = figure_1();
  a.graph.nodes[2].aliases = {"_ZN2ns1cEv", "ns::c()", "E"};
  for (const char *name : {"C", "_ZN2ns1cEv", "ns::c()", "ns::c"})
    EXPECT_EQ(functions_named(a, name), std::vector<std::uint32_t>{2}) << name;
  EXPECT_EQ(functions_named(a, "E"), std::vector<std::uint32_t>{4}) << "its first name says more";
  EXPECT_EQ(function_named(json_of(a, {}), "C").at("aliases"), json({"_ZN2ns1cEv", "ns::c()", "E"}));
}

TEST(report_json, needs_and_cycles) {
  const json report = json_of(figure_1(), {});
  EXPECT_EQ(report.at("format"), 1);
  EXPECT_EQ(report.at("functions").size(), 5U);
  const json d = function_named(report, "D");
  EXPECT_EQ(d.at("frame"), 16);
  EXPECT_TRUE(d.at("need").is_null());
  EXPECT_EQ(d.at("segment"), 32);
  EXPECT_EQ(d.at("certainty"), "unbounded");
  EXPECT_EQ(d.at("address"), "0x1300");
  EXPECT_TRUE(d.at("in_cycle"));
  ASSERT_EQ(d.at("back_edges").size(), 1U);
  EXPECT_EQ(d.at("back_edges")[0], json({{"to", "B"}, {"at", "0x1310"}}));
  const json c = function_named(report, "C");
  EXPECT_EQ(c.at("need"), 32);
  EXPECT_TRUE(c.at("cycle").is_null());
  EXPECT_EQ(c.at("chain"), json::parse(R"([{"name":"C","module":"prog","call_at":"0x0","depth":32}])"));
}

TEST(report_json, any_menagerie_is_valid_and_complete) {
  report_options options;
  options.all_modules = true;
  const json report = json_of(menagerie(), options);
  EXPECT_EQ(report.at("functions").size(), 39U);
  EXPECT_EQ(report.at("missing"), json({"libgone.so.2"}));
  const json odd = function_named(report, "odd\"name\\N</script><b>\xef\xbf\xbd\xef\xbf\xbd(");
  EXPECT_EQ(odd.at("certainty"), "assumed");
  ASSERT_EQ(odd.at("assumptions").size(), 1U);
  EXPECT_NE(report.at("assumptions")
                .at(odd.at("assumptions")[0].get<std::size_t>())
                .get<std::string>()
                .find("virtual"),
            std::string::npos);
  const json vla = function_named(report, "takes_array");
  EXPECT_TRUE(vla.at("frame").is_null());
  EXPECT_NE(vla.at("reason"), "");
}

TEST(report_json, long_chains_are_cut_and_say_so) {
  const json report = json_of(menagerie(100), {});
  const json last = function_named(report, "step_99");
  const json &chain = last.at("chain");
  EXPECT_EQ(chain.size(), 32U);
  EXPECT_EQ(last.at("chain_left_out"), 91 - 32);
  EXPECT_EQ(chain.front().at("name"), "step_99");
  EXPECT_EQ(chain[23].at("name"), "step_76");
  EXPECT_EQ(chain[24].at("name"), "step_16");
  EXPECT_EQ(chain.back().at("name"), "step_9");
}

TEST(report_json, a_signal_is_charged_to_each_bounded_need) {
  report_options options;
  options.signal_charge = 1000;
  const json report = json_of(figure_1(), options);
  EXPECT_EQ(function_named(report, "C").at("need"), 1032);
  EXPECT_TRUE(function_named(report, "B").at("need").is_null());
  EXPECT_EQ(report.at("summary").at("signal_charge"), 1000);
}

TEST(report_json, roots_leave_what_they_reach) {
  report_options options;
  options.roots = {"D"};
  const json report = json_of(figure_1(), options);
  EXPECT_EQ(report.at("functions").size(), 4U) << "start is not reached from D";
}

// The words of the dot language as far as reports use it; fails at what cannot be one.
struct dot_words {
  std::vector<std::string> all;
  bool valid = true;
};

dot_words words_of_dot(std::string_view text) {
  dot_words words;
  while (!text.empty()) {
    const char c = text.front();
    std::size_t length = 1;
    if (text.starts_with("//"))
      length = text.find('\n');
    else if (c == '"') {
      while (length < text.size() && text[length] != '"')
        length += text[length] == '\\' ? 2 : 1;
      words.valid = words.valid && length < text.size();
      ++length;
      words.all.emplace_back(text.substr(0, length));
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      while (length < text.size() && (std::isalnum(static_cast<unsigned char>(text[length])) != 0 ||
                                      text[length] == '_' || text[length] == '.'))
        ++length;
      words.all.emplace_back(text.substr(0, length));
    } else if (std::string_view("{}[];,=->").find(c) != std::string_view::npos) {
      words.all.emplace_back(1, c);
    } else {
      words.valid = words.valid && (c == ' ' || c == '\n');
    }
    text.remove_prefix(std::min(length, text.size()));
  }
  return words;
}

TEST(graphviz, is_valid_with_any_name) {
  report_options options;
  options.all_modules = true;
  const std::string dot = text_of([&](std::ostream &out) { write_graphviz(out, menagerie(), options); });
  const dot_words words = words_of_dot(dot);
  EXPECT_TRUE(words.valid) << dot;
  std::map<std::string, int> count;
  for (const std::string &w : words.all)
    ++count[w];
  EXPECT_EQ(count["{"], 3) << "the graph and two modules";
  EXPECT_EQ(count["{"], count["}"]);
  EXPECT_EQ(count["["], count["]"]);
  EXPECT_EQ(count["ellipse"], 1) << "the set of callees";
  EXPECT_EQ(count["dashed"], 1) << "the assumed call";
  EXPECT_EQ(count["dotted"], 1) << "the cycle";
}

TEST(graphviz, figure_1_of_the_paper) {
  const std::string dot = text_of([](std::ostream &out) { write_graphviz(out, figure_1(), {}); });
  EXPECT_NE(dot.find("n1 [label=\"B\\n16 / 48\""), std::string::npos) << dot;
  EXPECT_NE(dot.find("n3 -> n1 [style=dotted, constraint=false]"), std::string::npos) << dot;
  EXPECT_NE(dot.find("n4 -> n4 [style=dotted"), std::string::npos) << dot;
  EXPECT_NE(dot.find("n0 -> n1 [style=solid]"), std::string::npos) << dot;
}

TEST(counts, are_table_1) {
  report_options options;
  options.all_modules = true;
  const std::string text = text_of([&](std::ostream &out) { write_counts(out, menagerie(9), options); });
  EXPECT_NE(text.find("\nprog "), std::string::npos);
  EXPECT_NE(text.find("\nlibx.so.1 "), std::string::npos);
  EXPECT_NE(text.find("\nall "), std::string::npos) << text;
}

TEST(report_page, data_can_not_end_its_script) {
  const std::string page = text_of([](std::ostream &out) { write_page(out, menagerie(), {}); });
  const std::size_t begin = page.find("type=\"application/json\">");
  ASSERT_NE(begin, std::string::npos);
  const std::string data = page.substr(begin + 24, page.find("</script>", begin) - begin - 24);
  const json columns = json::parse(data);
  EXPECT_EQ(columns.at("name").size(), 40U);
  EXPECT_EQ(columns.at("listed"), 38) << "without the library and the set";
  EXPECT_EQ(page.find("{{"), std::string::npos) << "a mark of the template is left";
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org/2000/svg")) << "loads nothing";
}

} // namespace
} // namespace nth::stack
