import type { Answer, Ask } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'
import { Failure } from '../states/failure.tsx'
import { Skeleton } from '../states/skeleton.tsx'
import { TextDiff } from './text-diff.tsx'

/** What a revision is named by: `{id}`, or `{slug, version}`. */
export type RevisionReference = NonNullable<Ask<'POST /workflows/revisions/diff'>['body']>['base']

export interface RevisionDiffProps {
  readonly base: RevisionReference
  readonly head: RevisionReference
}

/** What changed between two revisions of prompts, evaluators or workflows. */
export function RevisionDiff({ base, head }: RevisionDiffProps) {
  const { data, error } = useRoute('POST /workflows/revisions/diff', { body: { base, head } })
  if (error) return <Failure error={error} />
  if (!data) return <Skeleton label="Loading what changed" />
  const { diff } = data as Answer<'POST /workflows/revisions/diff'>
  return <TextDiff label="What changed" base="" head={JSON.stringify(diff, null, 2)} />
}
