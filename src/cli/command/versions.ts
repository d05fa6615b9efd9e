import { createRequire } from 'node:module'
import { askServer } from './ask-server.ts'
import { namedAddress } from './chosen-server.ts'

const WAIT_MS = 1000

/** The versions of this program and of the server that commands ask, where one answers. */
export async function versions(environment: Readonly<Record<string, string | undefined>>): Promise<string> {
  const record: unknown = createRequire(import.meta.url)('../../../../package.json')
  const own = `branchpoint ${(record as { readonly version: string }).version}` // npm requires a version
  try {
    const url = namedAddress(undefined, environment)?.replace(/\/+$/, '')
    if (url === undefined) return own
    const signal = AbortSignal.timeout(WAIT_MS)
    const { name, version } = await askServer<{ readonly name?: string; readonly version?: string }>(
      { url, key: '' },
      'GET',
      '/',
      { signal },
    )
    return name === 'branchpoint' ? `${own}\nserver ${version} at ${url}` : own
  } catch {
    return own // no server answers there, or another one; or what login stored cannot be read
  }
}
