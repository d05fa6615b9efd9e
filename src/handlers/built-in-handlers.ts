import { autoCustomCodeRun } from './code/auto-custom-code-run.ts'
import { code } from './code/code.ts'
import { affixTest } from './evaluators/affix-test.ts'
import { autoContainsJson } from './evaluators/auto-contains-json.ts'
import { autoExactMatch } from './evaluators/auto-exact-match.ts'
import { autoJsonDiff } from './evaluators/auto-json-diff.ts'
import { autoLevenshteinDistance } from './evaluators/auto-levenshtein-distance.ts'
import { autoRegexTest } from './evaluators/auto-regex-test.ts'
import { autoSemanticSimilarity } from './evaluators/auto-semantic-similarity.ts'
import { autoSimilarityMatch } from './evaluators/auto-similarity-match.ts'
import { echo } from './evaluators/echo.ts'
import { fieldMatchTest } from './evaluators/field-match-test.ts'
import { jsonMultiFieldMatch } from './evaluators/json-multi-field-match.ts'
import { substringsTest } from './evaluators/substrings-test.ts'
import type { Handler } from './handler.ts'
import { autoWebhookTest } from './hooks/auto-webhook-test.ts'
import { hook } from './hooks/hook.ts'
import { autoAiCritique } from './judge/auto-ai-critique.ts'
import { match } from './match/match.ts'
import { containsText } from './metrics/contains-text.ts'
import { feedback, mock } from './mock/mock.ts'
import { chat } from './prompts/chat.ts'
import { completion } from './prompts/completion.ts'
import { llm } from './prompts/llm.ts'

/** Every handler that this service runs, by the key of its uri, `svc:builtin:<key>:v0` (contract/handlers 2). */
export const builtInHandlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  // what sends prompts to language models (2.10, 2.11)
  ['completion', completion],
  ['chat', chat],
  ['llm', llm],
  ['auto_ai_critique', autoAiCritique],
  // what computes its outputs (2.3, 2.4)
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
  // what runs scripts of users (2.5, 2.6)
  ['code', code],
  ['auto_custom_code_run', autoCustomCodeRun],
  // what asks somebody else's server, with its time limit (2.7, 2.9)
  ['hook', hook(30_000)],
  ['auto_webhook_test', autoWebhookTest(10_000)],
  // what stands for something else (2.9)
  ['mock', mock],
  ['feedback', feedback],
])
