import { Refusal } from '../errors.ts'

/** Refuses a PUT whose body names another thing than its path (contract/workflows 4.1). */
export function assertSameId(inPath: string | undefined, inBody: string | undefined): void {
  if (inBody === undefined || inBody === inPath) return
  throw new Refusal(
    'contradictory_request',
    `The path names ${inPath ?? 'nothing'}, but the body's id is ${inBody}. Send the same id, or leave it out of the body.`,
  )
}
