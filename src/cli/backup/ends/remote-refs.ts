import { Refusal } from '../../../errors.ts'
import { type AllRefs, isRefName, isRefTarget } from '../../../git/refs.ts'
import { unreachable } from '../unreachable.ts'

/** `0000` ends a request; `0001` separates a command from its arguments (gitprotocol-v2(5)). */
const FLUSH = '0000'
const DELIMITER = '0001'

/**
 * The refs and HEAD of a repository behind git over HTTP, even if HEAD names a branch that does not exist yet. Uses the command `ls-refs` of
 * protocol version 2: one request and no git process.
 */
export async function remoteRefs(
  url: string,
  { headers, signal }: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<AllRefs> {
  const body = [line('command=ls-refs'), DELIMITER, line('symrefs'), line('unborn'), FLUSH].join('')
  const response = await fetch(`${url}/git-upload-pack`, {
    method: 'POST',
    headers: {
      ...headers,
      'git-protocol': 'version=2',
      'content-type': 'application/x-git-upload-pack-request',
    },
    body,
    signal,
  }).catch((error: unknown) => {
    throw signal.aborted ? error : unreachable(new URL(url).origin, error)
  })
  const answer = await response.text()
  if (!response.ok) {
    const code = response.status === 404 ? 'artifact_not_found' : 'storage_unavailable'
    throw new Refusal(code, `${url} answered ${response.status}: ${answer.slice(0, 300)}`)
  }
  const refs = new Map<string, string>()
  let head = ''
  for (const text of lines(answer, url)) {
    const [oid = '', name = '', ...attributes] = text.split(' ')
    const target = attributes.find((it) => it.startsWith('symref-target:'))?.slice('symref-target:'.length)
    const held = name === 'HEAD' && target !== undefined ? `ref: ${target}` : oid
    // Names and ids are checked because they go into git's files and command lines.
    if (!isRefName(name) || !isRefTarget(name, held))
      throw new Refusal(
        'storage_unavailable',
        `${url} answered a ref that cannot be one: ${JSON.stringify(text.slice(0, 200))}.`,
      )
    if (name === 'HEAD') head = held
    else refs.set(name, oid)
  }
  return { refs, head }
}

function line(text: string): string {
  return `${(text.length + 5).toString(16).padStart(4, '0')}${text}\n`
}

/** The lines up to the flush packet. Refuses an incomplete answer. */
function lines(answer: string, url: string): string[] {
  const bytes = Buffer.from(answer)
  const found: string[] = []
  for (let at = 0; ;) {
    const length = Number.parseInt(bytes.toString('latin1', at, at + 4), 16)
    if (length === 0) return found
    if (!(length > 4) || at + length > bytes.length) {
      throw new Refusal('storage_unavailable', `${url} answered what git's protocol does not allow.`)
    }
    found.push(bytes.toString('utf8', at + 4, at + length).trimEnd())
    at += length
  }
}
