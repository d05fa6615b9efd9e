import { workflowFamily } from '../../../../src/run/handlers/workflows.ts'
import { objectUuid } from '../../../../src/registry/store/ids.ts'
import type { RevisionQuestion } from '../../../../src/registry/index/database/find-revisions.ts'
import type { Registry } from '../../../../src/registry/store/registry.ts'

/** What the index says of a registry's workflows, oldest first: id, version, time, the variants that hold it. */
export async function listed(
  { index }: Registry,
  asked: Partial<RevisionQuestion> = {},
): Promise<unknown[][]> {
  const question: RevisionQuestion = { ...EVERYTHING, ...asked }
  const rows: unknown[][] = []
  for await (const { artifact, oid, depth, seconds, holders } of await index.revisions(
    workflowFamily,
    question,
  ))
    rows.push([objectUuid(oid, artifact.digits), depth, seconds, holders.map(({ slug }) => slug)])
  return rows
}

const EVERYTHING: RevisionQuestion = {
  family: workflowFamily.folder,
  isDown: false,
  spans: [[Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]],
  includeArchived: true,
  flags: [],
  artifacts: [],
  variants: [],
}
