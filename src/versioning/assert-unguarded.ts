import { Refusal } from '../errors.ts'
import type { Family } from './family.ts'
import type { ArtifactRecord } from './records.ts'
import type { Actor } from './registry.ts'

/** Refuses to write to an artifact that is guarded, or would be by this very write, whoever may not deploy (rulings 6, contract/environments 10). */
export function assertUnguarded(
  { guardFlag, name }: Family,
  { slug, flags }: Pick<ArtifactRecord, 'slug' | 'flags'>,
  actor: Actor,
): void {
  if (guardFlag === undefined || actor.mayDeploy || !flags?.[guardFlag]) return
  throw new Refusal(
    'guarded',
    `The ${name} "${slug}" is guarded, or would be now, and the key "${actor.name}" lacks the scope "deploy". Use a key that has it.`,
    { details: { scope: 'deploy' } },
  )
}
