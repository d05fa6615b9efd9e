import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Report } from '../../../../src/cli/backup/report/backup-report.ts'
import { git } from '../../../support/git/git-program.ts'
import type { RunningService } from '../../../support/servers/service.ts'
import { startService } from '../../../support/servers/service.ts'
import { runCommand } from './run-command.ts'

/** A running service over a store of its own, with a backup beside it. */
export interface SmallStore {
  readonly folder: string
  readonly storeDir: string
  readonly backupDir: string
  readonly service: RunningService
  /** A workflow with so many revisions. */
  workflow(slug: string, revisions?: number): Promise<void>
  /** Backs it up; answers the report. */
  backUp(...more: readonly string[]): Promise<Report>
  /** The mirror of a repository in the backup. */
  mirror(slug: string, family?: string): string
  /** The refs of a repository, as git lists them. */
  refs(gitdir: string): string[]
  stop(): Promise<void>
}

export async function startSmallStore(): Promise<SmallStore> {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-backup-'))
  const [storeDir, backupDir] = [join(folder, 'store'), join(folder, 'backup')]
  const service = await startService({ storeDir })
  const commit = async (body: object, path: string): Promise<void> => {
    const { status, text } = await service.post(path, body)
    expect(status, text).to.equal(200)
  }
  return {
    folder,
    storeDir,
    backupDir,
    service,
    workflow: async (slug, revisions = 1) => {
      await commit({ workflow: { slug, data: { parameters: { n: 1 } } } }, '/simple/workflows/')
      const { body } = await service.post('/workflows/variants/query', { workflow_refs: [{ slug }] })
      for (let n = 2; n <= revisions; n++) {
        const fields = { workflow_variant_id: body.workflow_variants[0].id, data: { parameters: { n } } }
        await commit({ workflow_revision_commit: fields }, '/workflows/revisions/commit')
      }
    },
    backUp: (...more) => runCommand('backup', ['--to', backupDir, '--store', storeDir, ...more]),
    mirror: (slug, family = 'workflows') => join(backupDir, 'default', family, `${slug}.git`),
    refs: (gitdir) => git(gitdir, ['show-ref', '--head', '--dereference']).split('\n'),
    stop: async () => {
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
