import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { git } from '../../../support/git/git-program.ts'
import { startService } from '../../../support/servers/service.ts'
import { withoutProgress } from '../../without-progress.ts'
import { verified } from './verified.ts'
import { commit, commitFile, storeForEach } from './verify-store.ts'

const program = fileURLToPath(new URL('../../../../src/cli/main.js', import.meta.url))

describe('branchpoint verify', () => {
  const { dir, repository } = storeForEach()

  // interface 15.9
  it('says ok of every repository of a store with everything in use, and exits 0', () => {
    const { stdout, status } = spawnSync(process.execPath, [program, 'verify', '--store', dir()], {
      encoding: 'utf8',
    })
    const lines = stdout.trimEnd().split('\n')
    const summary = lines.pop()
    expect(lines.map((line) => line.split(/ {2,}/))).to.deep.equal([
      ['ok', 'default/workflows/bot', '3 revisions'],
      ['ok', 'default/testsets/rows', '2 revisions'],
      ['ok', 'default/environments/development', '0 revisions'],
      ['ok', 'default/environments/production', '1 revision'],
      ['ok', 'default/environments/staging', '0 revisions'],
    ])
    expect(summary).to.match(/^5 repositories: 5 ok \(\d+\.\d s\)$/)
    expect(status).to.equal(0)
  })

  it('exits 1 on damage, explains itself, and refuses what is no store or option in one sentence', () => {
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [program, 'verify', ...args], { encoding: 'utf8' })
    writeFileSync(`${repository('workflows/bot')}/refs/heads/bot`, `${'1'.repeat(40)}\n`)
    const damaged = run('--store', dir(), '--project', 'default')
    expect([damaged.status, withoutProgress(damaged.stderr)]).to.deep.equal([1, ''])
    expect(damaged.stdout).to.contain('damaged   default/workflows/bot')
    const asRecords = run('--store', dir(), '--jsonl')
    const records = asRecords.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([asRecords.status, records.length]).to.deep.equal([1, 5])
    expect(records[0]).to.deep.include({
      project: 'default',
      repository: 'workflows/bot',
      verdict: 'damaged',
    })
    expect(records[0].findings[0].sentence).to.be.a('string')
    expect(run('--help').stdout).to.contain('--repair')
    for (const [code, ...args] of [
      [1, '--store', `${dir()}/none`],
      [1, '--store', dir(), '--project', 'no'],
      [2, '--fix'],
    ] as [number, ...string[]][]) {
      const { stdout, stderr, status } = run(...args)
      expect([status, stdout]).to.deep.equal([code, ''])
      expect(stderr).not.to.match(/^ {4}at /m)
    }
    expect(existsSync(`${dir()}/none`)).to.equal(false)
  })

  describe('what is wrong and stays', () => {
    const cases: Record<string, readonly [path: string, damage: (gitdir: string) => void, named: RegExp]> = {
      'a copy of a repository': [
        'workflows/copy',
        (gitdir) => cpSync(repository('workflows/bot'), gitdir, { recursive: true }),
        /same artifact id as workflows\/bot/,
      ],
      'objects that nobody can come to': [
        'workflows/bot',
        (gitdir) => {
          rmSync(`${gitdir}/objects`, { recursive: true })
          symlinkSync('objects', `${gitdir}/objects`)
        },
        /cannot be read: the disk says ELOOP/,
      ],
      'a repository without refs/meta': [
        'workflows/plain',
        (gitdir) => void git(dir(), ['init', '-q', '--bare', gitdir]),
        /waits to be adopted/,
      ],
      'a repository of another format': [
        'workflows/sha256',
        (gitdir) => void git(dir(), ['init', '-q', '--bare', '--object-format=sha256', gitdir]),
        /object format sha256/,
      ],
      'a revision that does not decode': [
        'workflows/bot',
        (gitdir) => commitFile(gitdir, 'bot', 'data.json', '{ "parameters": '),
        /Commit [0-9a-f]{40} does not decode as a workflow revision: .*data\.json/,
      ],
      'a revision whose payload its family refuses': [
        'environments/production',
        (gitdir) => commitFile(gitdir, 'production', 'references.json', '[1, 2]'),
        /does not decode as a environment revision/,
      ],
      'a row that is not canonical': [
        'testsets/rows',
        (gitdir) =>
          commitFile(gitdir, 'rows', 'testcases/00/00/01.json', '{"testcase_dedup_id": "x", "a": "1"}\n'),
        /Commit [0-9a-f]{40}: testcases\/00\/00\/01\.json is not canonical/,
      ],
      'a row that is no object': [
        'testsets/rows',
        (gitdir) => commitFile(gitdir, 'rows', 'testcases/00/00/01.json', '[]\n'),
        /testcases\/00\/00\/01\.json is JSON, but no object\. Commit a repaired version/,
      ],
      'a file among the rows that is none': [
        'testsets/rows',
        (gitdir) => commitFile(gitdir, 'rows', 'testcases/00/00/notes.txt', 'Look here\n'),
        /testcases\/00\/00\/notes\.txt is no place for a row/,
      ],
      'two rows of one dedup id': [
        'testsets/rows',
        (gitdir) => {
          for (const [file, value] of [
            ['07', '7'],
            ['08', '8'],
          ] as const)
            commitFile(
              gitdir,
              'rows',
              `testcases/00/00/${file}.json`,
              `{"a":"${value}","testcase_dedup_id":"same"}\n`,
            )
        },
        /08\.json and testcases\/00\/00\/07\.json have the same testcase_dedup_id, "same"/,
      ],
      'a meta record that does not decode': [
        'workflows/bot',
        (gitdir) => commitFile(gitdir, 'refs/meta/artifact', 'artifact.json', '{}\n'),
        /refs\/meta\/artifact:artifact\.json cannot be read/,
      ],
      'a repository in the folder of another family': [
        'testsets/moved',
        (gitdir) => {
          cpSync(repository('workflows/bot'), gitdir, { recursive: true })
          rmSync(repository('workflows/bot'), { recursive: true })
        },
        /a workflow in the folder testsets/,
      ],
      'variants that differ in case only': [
        'workflows/bot',
        (gitdir) => void git(gitdir, ['update-ref', 'refs/heads/BOT', 'refs/heads/bot']),
        /variants "(?:BOT" and "bot|bot" and "BOT)" differ in case only/,
      ],
    }
    for (const [what, [path, damage, named]] of Object.entries(cases)) {
      // interface 15.9
      it(`${what}: is named, also with --repair, and hides no other repository`, async () => {
        damage(repository(path))
        const found = await verified(dir())
        expect(found.of(path)).to.match(/^damaged /)
        expect(found.of(path)).to.match(named)
        expect(found.isSound).to.equal(false)
        expect(found.of('environments/staging')).to.match(/^ok /)
        const after = await verified(dir(), { repair: true })
        expect(after.of(path))
          .to.match(/^damaged /)
          .and.to.match(named)
      })
    }
  })

  it('runs beside a server that writes, finding nothing', async () => {
    const service = await startService({ storeDir: dir() })
    let isOver = false
    const writing = (async () => {
      const { body } = await service.post('/workflows/variants/query', { workflow_variant: { slug: 'bot' } })
      const id = body.workflow_variants[0].id
      for (let number = 0; !isOver; number++)
        await commit(service, id, { n: number }, { deploy: ['staging'] })
      return id
    })()
    try {
      for (let times = 0; times < 2; times++) {
        const { lines, isSound } = await verified(dir())
        expect(isSound, lines.join('\n')).to.equal(true)
      }
    } finally {
      isOver = true
      await writing
      await service.stop({ keepStore: true })
    }
  })
})
