import type { Handler } from '../handler.ts'
import { match } from '../match/match.ts'
import { containsText } from '../metrics/contains-text.ts'
import { affixTest } from './affix-test.ts'
import { autoContainsJson } from './auto-contains-json.ts'
import { autoExactMatch } from './auto-exact-match.ts'
import { autoJsonDiff } from './auto-json-diff.ts'
import { autoLevenshteinDistance } from './auto-levenshtein-distance.ts'
import { autoRegexTest } from './auto-regex-test.ts'
import { autoSemanticSimilarity } from './auto-semantic-similarity.ts'
import { autoSimilarityMatch } from './auto-similarity-match.ts'
import { echo } from './echo.ts'
import { fieldMatchTest } from './field-match-test.ts'
import { jsonMultiFieldMatch } from './json-multi-field-match.ts'
import { substringsTest } from './substrings-test.ts'

/** The handlers that compute their outputs (contract/handlers 2.3, 2.4), by the key of their uri: `svc:builtin:<key>:v0`. */
export const evaluatorHandlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['echo', echo],
  ['match', match],
  ['auto_exact_match', autoExactMatch],
  ['auto_regex_test', autoRegexTest],
  ['auto_starts_with', affixTest('prefix', (text, prefix) => text.startsWith(prefix))],
  ['auto_ends_with', affixTest('suffix', (text, suffix) => text.endsWith(suffix))],
  ['auto_contains', affixTest('substring', containsText)],
  ['auto_contains_any', substringsTest(true)],
  ['auto_contains_all', substringsTest(false)],
  ['auto_contains_json', autoContainsJson],
  ['field_match_test', fieldMatchTest],
  ['json_multi_field_match', jsonMultiFieldMatch],
  ['auto_json_diff', autoJsonDiff],
  ['auto_levenshtein_distance', autoLevenshteinDistance],
  ['auto_similarity_match', autoSimilarityMatch],
  ['auto_semantic_similarity', autoSemanticSimilarity],
])
