import { Refusal } from '../errors.ts'
import { damageOf } from '../versioning/index/damage-of.ts'

/** Whether an error says that one log cannot be read, and nothing of the others. */
export function isOfOneLog(error: unknown): boolean {
  const isOther = error instanceof Refusal && error.code !== 'storage_unavailable'
  return isOther || damageOf(error, '') !== undefined
}
