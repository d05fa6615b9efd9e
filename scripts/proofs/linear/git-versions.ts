import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Version } from './operation.ts'

const run = promisify(execFile)

/** The versions of a variant, oldest first, as the git program lists them: each holds its `message`. */
export async function variantVersions(repository: string, branch: string): Promise<Version[]> {
  const lines = await log(repository, branch, '%s')
  return lines.map((subject) => ({ token: subject, values: new Map([['message', subject]]) }))
}

/** The versions of an environment, oldest first: each holds the id of the deployed revision by key. */
export async function environmentVersions(repository: string, branch: string): Promise<Version[]> {
  const trailer = (name: string): string => `%(trailers:key=${name},valueonly,separator=%x2C)`
  const lines = await log(repository, branch, `%s%x09${trailer('Deploy-Key')}%x09${trailer('Deploy-To')}`)
  let values: ReadonlyMap<string, string> = new Map()
  return lines.map((line) => {
    const [subject = '', key = '', target = ''] = line.split('\t')
    values = new Map([...values, [key, target.split(' ').at(-1) ?? '']])
    return { token: subject, values }
  })
}

async function log(repository: string, branch: string, format: string): Promise<string[]> {
  const args = [
    '-C',
    repository,
    'log',
    '--first-parent',
    '--reverse',
    `--format=${format}`,
    `refs/heads/${branch}`,
  ]
  const { stdout } = await run('git', args, { maxBuffer: 256 * 1024 * 1024 })
  return stdout.split('\n').slice(0, -1)
}
