import { expect } from 'chai'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChildServer } from '../../support/servers/child-server.ts'
import { KEY, startBranchpoint } from '../../support/servers/child-server.ts'
import { git } from '../../support/git/git-program.ts'
import { pathsBelow } from '../../support/disk/paths-below.ts'
import { storeFiles } from './store-files.ts'

const ROWS = 40_000

/** A file of that many rows, other ones in each round. */
function fileOf(round: number): string {
  return `q,a\n${Array.from({ length: ROWS }, (_, n) => `question ${n},answer ${n * 7919 + round}\n`).join('')}`
}

describe('testsets: a server that is killed during an upload', () => {
  let storeDir: string
  let server: ChildServer
  /** A testset that was there before, with two revisions. */
  let kept: string
  beforeEach(async () => {
    storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-killed-'))
    server = await startBranchpoint(storeDir, { LOG_LEVEL: 'info' })
    const { testset } = await send('/simple/testsets/upload?testset_slug=kept', 'q\nhere\n')
    kept = testset.id
    await send(`/simple/testsets/${kept}/upload`, 'q\nhere\nthere\n')
  })
  afterEach(async () => {
    await server.stop()
    rmSync(storeDir, { recursive: true })
  })

  /** The answer; undefined if the connection broke first. */
  const send = async (path: string, body: string | ReadableStream): Promise<any> => {
    const headers = { authorization: `ApiKey ${KEY}`, 'content-type': 'text/csv' }
    const more = { duplex: 'half' } as RequestInit // which the types of node leave out
    return fetch(server.url + path, { method: 'POST', body, headers, ...more }).then(
      (response) => response.json(),
      () => undefined,
    )
  }

  /**
   * Begins an upload, kills the server as soon as a file like this is there, and starts another, which must leave nothing of it. Where
   * the server was faster than the kill, that is another round. Answers the last one.
   */
  const cutOff = async (
    upload: (round: number) => Promise<unknown>,
    unfinished: RegExp,
    smallest: number,
  ): Promise<number> => {
    for (let round = 1; ; round++) {
      const before = filesAtRest(storeDir)
      let isOver = false
      const uploading = upload(round).finally(() => (isOver = true))
      while (!isOver && !filesLike(unfinished).some((path) => sizeOf(join(storeDir, path)) >= smallest))
        await pause()
      await server.kill()
      const wasCut = filesLike(unfinished).length > 0
      const answer = await uploading
      server = await startBranchpoint(storeDir, { LOG_LEVEL: 'info' })
      while (!(await fetch(`${server.url}/ready`)).ok) await pause()
      if (!wasCut) continue
      expect(answer).to.equal(undefined)
      expect(filesAtRest(storeDir)).to.deep.equal(before)
      return round
    }
  }
  const filesLike = (pattern: RegExp): string[] => pathsBelow(storeDir).filter((path) => pattern.test(path))

  for (const [what, path, slug] of [
    ['creates a testset', '/simple/testsets/upload?testset_slug=new-ROUND&', 'new-ROUND'],
    ['replaces rows', '/simple/testsets/ID/upload?', 'kept'],
  ] as const) {
    it(`that ${what}: the next start removes what was staged, and the same upload succeeds`, async () => {
      const upload = (round: number): Promise<any> => {
        const to = `${path.replace('ID', kept).replace('ROUND', `${round}`)}include_testcases=false`
        return send(to, fileOf(round))
      }
      const round = await cutOff(upload, /\/tmp_[^/]*$/, 100_000)
      const { testset } = await upload(round)
      expect(testset.data.testcase_ids).to.have.length(ROWS)
      const repository = join(storeDir, 'default', 'testsets', `${slug.replace('ROUND', `${round}`)}.git`)
      expect(git(repository, ['fsck', '--strict', '--no-dangling'])).to.equal('')
    })
  }

  it('before the file is there: the next start removes what there is of it', async () => {
    const file = fileOf(0)
    const endless = () => new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(file)) })
    const round = await cutOff(() => send('/simple/testsets/upload', endless()), /^\.uploads\/./, file.length)
    expect(round).to.equal(1)
  })
})

/** Everything in the store but what each server makes for itself, and what is derived. */
function filesAtRest(storeDir: string): string[] {
  return storeFiles(storeDir).filter((line) => !/^\.journal|^\.servers|\/first-parents|\/row-keys/.test(line))
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10))
}
