import { autoCustomCodeRun } from './code/auto-custom-code-run.ts'
import { code } from './code/code.ts'
import { autoContains, autoEndsWith, autoStartsWith } from './evaluators/affix-tests.ts'
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
import { autoContainsAll, autoContainsAny } from './evaluators/substrings-tests.ts'
import type { Handler, HandlerDefinition } from './handler.ts'
import { autoWebhookTestDefinition } from './hooks/auto-webhook-test.ts'
import { hookDefinition } from './hooks/hook.ts'
import { autoAiCritique } from './evaluators/auto-ai-critique.ts'
import { match } from './match/match.ts'
import { feedback } from './feedback.ts'
import { mock } from './mock.ts'
import { agent } from './prompts/agent.ts'
import { chat } from './prompts/chat.ts'
import { completion } from './prompts/completion.ts'
import { llm } from './prompts/llm.ts'

/** All handlers of this service, in the order in which refusals name them (interface 11.1, 7.2). */
export const handlerDefinitions: readonly HandlerDefinition[] = [
  chat,
  completion,
  agent,
  llm,
  match,
  { key: 'prompt', kind: 'builtin' },
  echo,
  { key: 'human', kind: 'builtin' },
  { key: 'skill', kind: 'builtin' },
  autoExactMatch,
  autoRegexTest,
  fieldMatchTest,
  jsonMultiFieldMatch,
  autoWebhookTestDefinition,
  autoCustomCodeRun,
  autoAiCritique,
  autoStartsWith,
  autoEndsWith,
  autoContains,
  autoContainsAny,
  autoContainsAll,
  autoContainsJson,
  autoJsonDiff,
  autoLevenshteinDistance,
  autoSimilarityMatch,
  autoSemanticSimilarity,
  code,
  hookDefinition,
  feedback,
  mock,
]

/** The handlers that run in this service, by key. */
export const builtInHandlers: ReadonlyMap<string, Handler> = new Map(
  handlerDefinitions.flatMap(({ key, run }) => (run ? [[key, run] as const] : [])),
)
