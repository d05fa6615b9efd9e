/**
 * The addresses in a connection URL that names one host or several, with commas between them: one URL for each, with what they share.
 * Undefined for what is none.
 */
export function hostsIn(text: string): readonly string[] | undefined {
  const [, scheme, user = '', hosts, rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^@/?#]*@)?([^/?#]+)(.*)$/.exec(text) ?? []
  if (scheme === undefined || hosts === undefined) return undefined
  const urls = hosts.split(',').map((host) => `${scheme}${user}${host}${rest}`)
  return urls.every((url) => URL.canParse(url)) ? urls : undefined
}

/** Such a URL without its password, to be shown. */
export function withoutPassword(text: string): string {
  return text.replace(/^([a-z]+:\/\/[^:@/]*):[^@/]*@/, '$1@').replace(/([?&]password=)[^&]*/, '$1…')
}
