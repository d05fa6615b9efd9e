import type { PlainObject } from '../../json/json.ts'
import { closedObject, openObject } from '../../resources/workflows/schemas/object-schema.ts'

const reason = { type: 'string', description: 'Why, where the verdict alone does not say it.' }

/** The answer of an evaluator that only says yes or no. */
export const passed: PlainObject = closedObject({ success: { type: 'boolean' }, reason }, ['success'])

/** The answer of an evaluator that gives a number, and whether that is enough. */
export const scored: PlainObject = closedObject({
  score: { type: 'number' },
  success: { type: 'boolean' },
  reason,
})

/** The answer of somebody else, who may say more than was asked for; a number or a yes becomes a score. */
export const judged: PlainObject = openObject({
  score: { type: ['number', 'boolean'] },
  success: { type: 'boolean' },
})

/** The parameter that names the input which holds the expected answer. */
export const answerKey: PlainObject = {
  type: 'string',
  default: 'correct_answer',
  'x-svc-type': 'text',
  title: 'Input that holds the expected answer',
}

/** A parameter that most people leave alone. */
export function advanced(schema: PlainObject): PlainObject {
  return { ...schema, 'x-svc-ui-advanced': true }
}
