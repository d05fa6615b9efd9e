import type { Answer } from '../../api/call.ts'
import { places } from '../../shell/places.ts'
import { RevisionChip } from './revision-chip.tsx'

export interface WorkflowChipProps {
  /** The slug of its artifact. */
  readonly artifact: string
  readonly revision: Answer<'POST /workflows/revisions/retrieve'>['workflow_revision']
}

/** A revision of a prompt, an evaluator or a workflow, with a link to its page. */
export function WorkflowChip({ artifact, revision }: WorkflowChipProps) {
  return (
    <RevisionChip
      to={places.revision(artifact, revision.slug)}
      version={Number(revision.version)}
      author={revision.author}
      date={revision.date}
      subject={revision.subject}
    />
  )
}
