import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { Soak } from '../../proofs/soak/load/run-soak.ts'
import { temporaryFolder } from '../../../test/support/git/git-program.ts'

const PROGRAM = fileURLToPath(new URL('../../proof.js', import.meta.url))
const run = promisify(execFile)

describe('npm run proof -- soak', () => {
  const folder = temporaryFolder()

  it('loads a server, tells what it saw and keeps the samples', async () => {
    const [json, csv] = [`${folder}/soak.json`, `${folder}/soak.csv`]
    // So short a run says nothing about flatness, so its exit code is not looked at.
    const { stdout } = await run(process.execPath, [
      PROGRAM,
      'soak',
      '--minutes',
      '0.05',
      '--json',
      json,
      '--csv',
      csv,
    ]).catch((error: { stdout: string }) => error)
    // what the program wrote
    const { samples, requests, problems } = JSON.parse(readFileSync(json, 'utf8')) as Soak
    expect(problems).to.deep.equal([])
    expect(requests).to.be.above(0)
    for (const { resident, heap, descriptors } of samples) {
      expect(heap).to.be.within(1e6, resident)
      expect(descriptors).to.be.above(10)
    }
    // On a busy machine the first sample comes too late to be one of the start.
    expect(stdout).to.match(/^resident memory .* \d+ MB/m)
    expect(stdout).to.match(/^(not )?flat/m)
    const [names, first] = readFileSync(csv, 'utf8').split('\r\n')
    expect(names).to.match(/^at,resident,heap,/)
    expect(first).to.match(/^[\d.]+,\d+,\d+,/)
  })

  it('refuses a time that is none', async () => {
    const refused = await run(process.execPath, [PROGRAM, 'soak', '--minutes', 'long']).catch(
      (error: { stderr: string }) => error,
    )
    expect(refused.stderr).to.include('--minutes long is no time')
  })
  it('leaves no server behind when it is ended by a signal', async () => {
    const soak = spawn(process.execPath, [PROGRAM, 'soak', '--minutes', '5'], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = once(soak, 'exit')
    for await (const text of soak.stderr) if (String(text).includes('resident')) break
    const children = readFileSync(`/proc/${soak.pid}/task/${soak.pid}/children`, 'utf8').trim().split(' ')
    expect(children[0]).to.match(/^\d+$/)
    soak.kill('SIGTERM')
    expect(await ended).to.deep.equal([143, null])
    while (children.some(isAlive)) await pause(20)
  })
})

/** A process that has ended and waits to be collected is none. */
function isAlive(pid: string): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}
