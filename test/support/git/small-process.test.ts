import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { expect } from 'chai'
import type { ProgramCall, ProgramEnd } from './small-process.ts'
import { runBesides, runInSmallProcess } from './small-process.ts'

const call = (command: string, ...args: readonly string[]): ProgramCall => ({
  command,
  args,
  cwd: tmpdir(),
  env: process.env,
})

describe('programs that a small process starts', () => {
  for (const [way, run] of [
    ['while this one stands still', async (it: ProgramCall): Promise<ProgramEnd> => runInSmallProcess(it)],
    ['while this one goes on', runBesides],
  ] as const) {
    describe(way, () => {
      it('read what they are given and answer it byte for byte', async () => {
        const input = randomBytes(3_000_000)
        const { status, output, complaint, error } = await run({ ...call('cat'), input })
        expect([status, complaint.toString(), error]).to.deep.equal([0, '', undefined])
        expect(output.equals(input)).to.equal(true)
      })

      it('run in the folder and the environment that are named', async () => {
        const env = { PATH: process.env['PATH'], SAID: 'two words' }
        const { output } = await run({ ...call('sh', '-c', 'pwd; echo "$SAID"'), cwd: '/', env })
        expect(output.toString()).to.equal('/\ntwo words\n')
      })

      it('that fail say with what', async () => {
        const end = await run(call('sh', '-c', 'echo no >&2; exit 3'))
        expect([end.status, end.complaint.toString(), end.error]).to.deep.equal([3, 'no\n', undefined])
      })

      it('that cannot be started say why', async () => {
        const end = await run(call('no-such-program'))
        expect([end.status, end.error?.code]).to.deep.equal([null, 'ENOENT'])
      })

      it('are told of an end of the process that starts them, and the next one has another', async () => {
        const killing = await run(call('sh', '-c', 'kill -9 $PPID; sleep 0.1')).catch(
          (error: unknown) => error,
        )
        expect(killing).to.have.property('message').that.contains('has ended')
        expect((await run(call('echo', 'again'))).output.toString()).to.equal('again\n')
      })
    })
  }

  it('run at once where this one goes on', async () => {
    const folder = (await runBesides(call('mktemp', '-d'))).output.toString().trim()
    const cwd = { cwd: folder }
    const [first, second] = await Promise.all([
      runBesides({ ...call('sh', '-c', 'mkfifo one 2>/dev/null; cat one'), ...cwd }),
      runBesides({
        ...call('sh', '-c', 'until [ -p one ]; do :; done; echo met >one; rm -r "$PWD"'),
        ...cwd,
      }),
    ])
    expect([first.output.toString(), second.status]).to.deep.equal(['met\n', 0])
  })
})
