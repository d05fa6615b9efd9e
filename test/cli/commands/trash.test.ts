import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { runTrash } from '../../../src/cli/commands/trash.ts'
import { create, REMOVABLES } from '../../support/clients/removal-client.ts'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'

const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('branchpoint trash', () => {
  let service: RunningService
  const run = (...args: readonly string[]): Promise<string> =>
    runTrash(args, { BRANCHPOINT_URL: service.url, BRANCHPOINT_KEY: ADMIN_KEY })
  const refused = (...args: readonly string[]): Promise<string> =>
    run(...args).then(
      (output) => `it said ${output}`,
      (error: Error) => error.message,
    )

  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  it('removes by slug, lists, brings back, and removes for good', async () => {
    const [workflows, testsets] = REMOVABLES
    if (!workflows || !testsets) throw new Error('there are families')
    const { id } = await create(service, workflows, 'typo')
    expect(await run('list')).to.equal('The trash is empty.')
    expect(await run('delete', 'typo')).to.match(/^Removed the workflow "typo" \(.*\)\. Until 2/)
    expect(await run('list')).to.match(new RegExp(`KIND.*\\nworkflow  typo  ${id}  2`))
    expect(JSON.parse(await run('list', '--jsonl'))).to.include({ kind: 'workflow', slug: 'typo', id })
    expect(JSON.parse(await run('list', '--json')).trash[0]).to.include({ slug: 'typo', id })
    expect(await run('undelete', 'typo')).to.equal(`Brought the workflow "typo" (${id}) back.`)
    await create(service, testsets, 'typo')
    expect(await refused('delete', 'typo')).to.include('workflow, testset. Say which with --kind.')
    await run('delete', 'typo', '--kind', 'testset')
    await run('delete', id)
    expect(await run('purge', 'typo', '--kind', 'testset')).to.include('for good')
    expect(await run('purge')).to.equal(`Removed the workflow "typo" (${id}) for good.`)
    expect(await run('purge')).to.equal('The trash is empty.')
  })

  it('names what refers to something, and what is wrong with the words', async () => {
    const [workflows] = REMOVABLES
    if (!workflows) throw new Error('there are families')
    await create(service, workflows, 'needed')
    await create(service, { ...workflows, data: { parameters: { t: '@{{workflow.slug=needed}}' } } }, 'needs')
    expect(await refused('delete', 'needed')).to.match(/cannot be removed.*\n {2}embed \S+ needs-1$/)
    expect(await refused('delete', 'nothing')).to.include('There is nothing with the slug "nothing".')
    expect(await refused('undelete', 'needed')).to.include('Nothing lies in the trash')
    expect(await refused('destroy', 'needed')).to.include('There is no command "destroy".')
    expect(await refused('list', 'needed')).to.include('one word too many')
    expect(await refused('delete', 'needed', '--kind', 'prompt')).to.include('There is no kind "prompt".')
  })

  it('takes the server from BRANCHPOINT_URL and the key from BRANCHPOINT_KEY', async () => {
    const env = { ...process.env, BRANCHPOINT_URL: service.url, BRANCHPOINT_KEY: ADMIN_KEY }
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'trash', 'list'], { env })
    expect(stdout).to.equal('The trash is empty.\n')
  })
})
