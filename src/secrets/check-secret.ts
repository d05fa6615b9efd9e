import { invalid } from '../errors.ts'

/** Where a secret leads, if it is the key of a provider of language models. */
export interface SecretPurpose {
  /** `openai`, `anthropic` … : makes the secret a connection that prompts can name. */
  readonly provider?: string | undefined
  /** Where the provider's interface is, if not at its usual place. */
  readonly baseUrl?: string | undefined
}

/** Refuses a name, value or purpose that no secret can have. No sentence of it shows the value. */
export function checkSecret(name: string, value: string, { provider, baseUrl }: SecretPurpose): void {
  if (!NAME.test(name))
    throw invalid(
      ['name'],
      `${JSON.stringify(name)} is not the name of a secret: use 1 to 100 letters, digits, "_", "." and "-", and begin ` +
        `with a letter or "_".`,
    )
  const bytes = Buffer.byteLength(value)
  if (bytes === 0) throw invalid(['value'], 'the value is empty: give at least one character.')
  if (bytes > MAX_BYTES) throw invalid(['value'], `the value has ${bytes} bytes: give at most ${MAX_BYTES}.`)
  if (provider !== undefined && !PROVIDER.test(provider))
    throw invalid(
      ['provider'],
      `${JSON.stringify(provider)} is not a provider: use lower-case letters, digits, "_" and "-", such as openai.`,
    )
  if (baseUrl !== undefined && !isBaseUrl(baseUrl))
    throw invalid(
      ['base_url'],
      `this is not the base of a provider's URLs: give an http or https URL without user, query and fragment, such as ` +
        `https://api.openai.com/v1.`,
    )
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,99}$/
const PROVIDER = /^[a-z][a-z0-9_-]{0,63}$/
const MAX_BYTES = 64 * 1024

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === '')
}
