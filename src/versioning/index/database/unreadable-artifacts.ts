import type { Refusal } from '../../../errors.ts'
import type { ArtifactView } from '../../artifacts/artifact-view.ts'

/** Artifacts whose commits cannot be read. */
export interface UnreadableArtifacts {
  readonly unreadable: readonly { readonly artifact: ArtifactView; readonly reason: Refusal }[]
  /** Whether the question asks for no others. */
  readonly areAll: boolean
}
