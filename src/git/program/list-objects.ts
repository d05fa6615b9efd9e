import { Refusal } from '../../errors.ts'
import type { ObjectKind, Oid } from '../objects/object.ts'
import { startGit } from './git-process.ts'

/** An object that a repository has, or is about to get. */
export interface ListedObject {
  readonly oid: Oid
  readonly kind: ObjectKind
  readonly size: number
  /** One of the paths that lead to it, as git shows it; empty for commits, tags and root trees. */
  readonly path: string
}

export interface ObjectListing {
  readonly gitdir: string
  readonly env: NodeJS.ProcessEnv
  readonly tips: readonly Oid[]
  /** Objects that these reach are left out; `refs` means all refs of the repository. */
  readonly except: readonly Oid[] | 'refs'
  readonly signal?: AbortSignal | undefined
}

/** Every object that the tips reach, as git lists them. Refuses with `invalid_file` if an object that they reach is missing. */
export async function* listObjects({
  gitdir,
  env,
  tips,
  except,
  signal,
}: ObjectListing): AsyncGenerator<ListedObject> {
  const input = [...tips, ...(except === 'refs' ? [] : except.map((oid) => `^${oid}`))].map((it) => `${it}\n`)
  const args = [`--git-dir=${gitdir}`, 'rev-list', '--objects', '--stdin']
  if (except === 'refs') args.push('--not', '--all')
  const reached = startGit({ args, env, input, signal })
  const described = startGit({
    args: [`--git-dir=${gitdir}`, 'cat-file', '--buffer', `--batch-check=${DESCRIPTION}`],
    env,
    input: reached.output as AsyncIterable<Buffer>, // no encoding is set, so the stream yields buffers
    signal,
  })
  try {
    for await (const line of linesOf(described.output)) {
      const [, oid, kind, size, path] = /^([0-9a-f]{40}) (\w+) (\d+) ?(.*)$/s.exec(line) ?? []
      if (oid === undefined) throw incomplete(line)
      yield { oid, kind: kind as ObjectKind, size: Number(size), path: path ?? '' } // git knows no other kinds
    }
    for (const { ended } of [reached, described]) {
      const { code, complaint } = await ended
      if (code !== 0) throw incomplete(complaint)
    }
  } finally {
    // A caller that stops reading ends both programs.
    for (const { output } of [described, reached]) output.destroy()
  }
}

const DESCRIPTION = '%(objectname) %(objecttype) %(objectsize) %(rest)'

function incomplete(complaint: string): Refusal {
  return new Refusal(
    'invalid_file',
    `What was pushed does not hang together (${complaint.replace(/^fatal: /, '').slice(0, 300)}). ` +
      `Run git fsck in your clone, or clone anew, and push again.`,
  )
}

/** The lines of a program's output. Only a line feed ends a line, because names may contain CR or U+2028. */
export async function* linesOf(output: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let pieces: Buffer[] = []
  for await (const chunk of output) {
    let from = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...pieces, chunk.subarray(from, end)]).toString('utf8')
      pieces = []
      from = end + 1
    }
    pieces.push(chunk.subarray(from))
  }
  const last = Buffer.concat(pieces)
  if (last.length > 0) yield last.toString('utf8')
}

const LINE_FEED = 0x0a
