import { isJsonObject, numberOf, type Json } from '../../json/json.ts'

/**
 * The outputs that the answer of a judge stands for, be it a model or somebody's server (interface 11.16, 11.17): an object is them,
 * a number or a boolean is the score, shown as it was sent. Undefined for anything else.
 */
export function judgedOutputs(answer: Json | undefined, threshold: number): Json | undefined {
  if (answer === undefined || isJsonObject(answer)) return answer
  const score = typeof answer === 'boolean' ? Number(answer) : numberOf(answer)
  return score === undefined ? undefined : { score: answer, success: score >= threshold }
}
