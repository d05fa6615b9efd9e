import type { HostileBody } from './hostile-bodies.ts'
import { HOSTILE_VALUES, inside, list, type MakeText } from './hostile-values.ts'

const HANDLERS: Readonly<Record<string, object>> = {
  auto_exact_match: { correct_answer_key: 'answer' },
  auto_json_diff: { correct_answer_key: 'answer', compare_schema_only: false },
  auto_contains_json: {},
  auto_levenshtein_distance: { correct_answer_key: 'answer' },
  auto_similarity_match: { correct_answer_key: 'answer', similarity_threshold: 0.5 },
  auto_regex_test: { regex_pattern: '(a|x)+$', regex_should_match: true },
  auto_starts_with: { prefix: 'x' },
  auto_contains_all: { substrings: ['x', 'y'] },
  field_match_test: { json_field: 'x', correct_answer_key: 'answer' },
  json_multi_field_match: { fields: ['x', 'x.y'], correct_answer_key: 'answer' },
  match: { matchers: [{ kind: 'json', path: '$..*', mode: 'exact', reference: 'inputs.answer' }] },
  echo: {},
  auto_custom_code_run: { code: 'def evaluate(a, i, o, c):\n  return 1.0', correct_answer_key: 'answer' },
}

/** Invocations whose values are hostile, for each handler that computes, and with much of what shapes a run. */
export function hostileRuns(): HostileBody[] {
  const values = Object.entries(HOSTILE_VALUES)
  return [
    ...Object.entries(HANDLERS).flatMap(([key, parameters]) =>
      values.map(([name, make]) => ({
        shape: `${key} over ${name}`,
        make: (bytes: number) => run(key, JSON.stringify(parameters), make(bytes / 2)),
      })),
    ),
    ...Object.entries(TEMPLATES).map(([shape, make]) => ({ shape, make })),
  ]
}

const completion = (format: string, messages: string, inputs: string): string =>
  `{"data":{"revision":{"data":{"uri":"svc:builtin:completion:v0","parameters":{"prompt":{"template_format":"${format}","messages":${messages},"llm_config":{"model":"mock"}}}}},"inputs":${inputs}}}`

const TEMPLATES: Readonly<Record<string, MakeText>> = {
  ...Object.fromEntries(
    ['curly', 'fstring', 'jinja2'].flatMap((format) => {
      const name = format === 'fstring' ? '{name} ' : '{{name}} '
      return [
        [
          `${format} of many messages`,
          (bytes: number) =>
            completion(format, list(`{"role":"user","content":"${name}"}`, bytes), '{"name":"x"}'),
        ],
        [
          `${format} of many names`,
          (bytes: number) =>
            completion(
              format,
              `[{"role":"user","content":"${name.repeat(bytes / name.length)}"}]`,
              '{"name":"x"}',
            ),
        ],
        [
          `${format} that grows`,
          (bytes: number) =>
            completion(
              format,
              `[{"role":"user","content":"${name.repeat(bytes / 2 / name.length)}"}]`,
              `{"name":"${'x'.repeat(bytes / 2)}"}`,
            ),
        ],
      ] as [string, MakeText][]
    }),
  ),
  'a schema over many values': (bytes) =>
    `{"data":{"revision":{"data":{"uri":"svc:builtin:echo:v0","schemas":{"inputs":{"type":"object","properties":{"x":{"type":"array","uniqueItems":true,"items":{"type":"object"}}}}}}},"inputs":${inside('x', (size) => list('{"a":1}', size))(bytes)}}}`,
}

function run(key: string, parameters: string, value: string): string {
  return `{"data":{"revision":{"data":{"uri":"svc:builtin:${key}:v0","parameters":${parameters}}},"inputs":{"answer":${value}},"outputs":${value}}}`
}
