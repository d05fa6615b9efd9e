import type { Config } from '../config.ts'
import { ConfigError } from '../config.ts'
import { CorruptObject } from '../git/objects.ts'
import { parseAllowedSigners, readKeyFile, parseSigningKey } from '../git/signing.ts'
import type { Signing } from '../registry/registries.ts'

/**
 * Reads the configured files: the signing key, and the allowed signers, which include the service's own key. Throws one `ConfigError` that
 * names every unusable file, with the reason.
 */
export function signingSettings({
  signingKeyFile,
  allowedSignersFile,
}: Pick<Config, 'signingKeyFile' | 'allowedSignersFile'>): Signing {
  const problems: string[] = []
  const read = <T>(
    name: string,
    path: string | undefined,
    secret: boolean,
    parse: (text: string) => T,
  ): T | undefined => {
    if (path === undefined) return undefined
    try {
      return parse(readKeyFile(path, { secret }))
    } catch (error) {
      if (!(error instanceof CorruptObject)) throw error
      problems.push(`${name}: ${JSON.stringify(path)} ${error.message}`)
      return undefined
    }
  }
  const key = read('SIGNING_KEY_FILE', signingKeyFile, true, parseSigningKey)
  const others = read('ALLOWED_SIGNERS_FILE', allowedSignersFile, false, parseAllowedSigners) ?? []
  if (problems.length > 0) throw new ConfigError(problems)
  return { key, allowed: key ? [{ blob: key.publicKey.blob }, ...others] : others }
}
