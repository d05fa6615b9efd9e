import fc from 'fast-check'
import type { KnownThings } from './known-things.ts'

/** A payload, or the change of one, that the family of a path takes. */
export function calmPayload(path: string, name: 'data' | 'delta', known: KnownThings): fc.Arbitrary<unknown> {
  return fc.nat().map((at) => {
    if (path.includes('testsets')) {
      const rows = [{ data: { country: `Land ${at % 50}`, capital: 'A' } }, { data: { country: 'B' } }]
      return name === 'data' ? { testcases: rows } : { rows: { add: rows } }
    }
    if (path.includes('environments')) {
      const pin = {
        application: { id: known.some('application', at)?.id },
        application_revision: { id: known.some('application_revision', at)?.id },
      }
      return name === 'data'
        ? { references: { [`key-${at % 5}`]: pin } }
        : { set: { [`key-${at % 5}`]: pin } }
    }
    if (path.includes('queries')) {
      const data = { windowing: { limit: 1 + (at % 50) }, filtering: { operator: 'and', conditions: [] } }
      return name === 'data' ? data : { set: data }
    }
    const data = WORKFLOWS[at % WORKFLOWS.length]
    return name === 'data' ? data : { set: { parameters: { at } } }
  })
}

const PROMPT = { messages: [{ role: 'user', content: 'Hello, {{name}}' }], template_format: 'curly' }

const WORKFLOWS = [
  { parameters: { prompt: PROMPT } },
  { parameters: { tone: 'calm', nested: { list: [1, 2.0, null] } } },
  { uri: 'svc:builtin:echo:v0', parameters: {} },
  { uri: 'svc:builtin:auto_exact_match:v0', parameters: { correct_answer_key: 'capital' } },
  { uri: 'svc:builtin:auto_regex_test:v0', parameters: { regex_pattern: '^A+$', regex_should_match: true } },
]
