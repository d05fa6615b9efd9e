import { z } from 'zod'
import { post } from './call.ts'
import type { ChildServer } from '../../test/support/servers/child-server.ts'
import { upload } from './transfer.ts'

/** A testset on a server, and its latest revision. */
export interface Testset {
  readonly id: string
  readonly slug: string
  readonly revisionId: string
}

/** Makes a testset of a file's rows. */
export async function uploadFile(server: ChildServer, slug: string, file: string): Promise<Testset> {
  const path = '/simple/testsets/upload?include_testcases=false&include_testcase_ids=false'
  const answer = await upload(server, path, file, { testset_slug: slug })
  const { testset } = uploaded.parse(JSON.parse(answer))
  return { id: testset.id, slug, revisionId: testset.revision_id }
}

const uploaded = z.object({ testset: z.object({ id: z.string(), revision_id: z.string() }) })

/** Adds a row by a delta onto the latest of the testset. */
export function addRow(server: ChildServer, { id }: Testset, row: object): Promise<unknown> {
  const commit = { testset_id: id, delta: { rows: { add: [{ data: row }] } } }
  const body = { testset_revision_commit: commit, include_testcases: false, include_testcase_ids: false }
  return post(server, '/testsets/revisions/commit', body, z.object({ testset_revision: z.object({}) }))
}

/** A part of a testset's rows. */
export interface Page {
  readonly limit: number
  readonly next?: string
}

/** A part of the rows, or only where the next one begins. */
export function retrieve(
  server: ChildServer,
  { revisionId }: Testset,
  windowing: Page,
  withRows: boolean,
): Promise<z.infer<typeof retrieved>> {
  const body = {
    testset_revision_ref: { id: revisionId },
    include_testcases: withRows,
    include_testcase_ids: withRows,
    windowing,
  }
  return post(server, '/testsets/revisions/retrieve', body, retrieved)
}

const retrieved = z.object({
  testset_revision: z.object({
    data: z.object({ testcases: z.array(z.unknown()).optional() }).optional(),
  }),
  windowing: z.object({ next: z.string().optional() }).optional(),
})
