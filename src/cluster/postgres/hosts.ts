/** Splits a connection URL with several hosts, separated by commas, into one URL per host. Undefined if it is not a valid URL. */
export function hostsIn(text: string): readonly string[] | undefined {
  const [, scheme, user = '', hosts, rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^@/?#]*@)?([^/?#]+)(.*)$/.exec(text) ?? []
  if (scheme === undefined || hosts === undefined) return undefined
  const urls = hosts.split(',').map((host) => `${scheme}${user}${host}${rest}`)
  return urls.every((url) => URL.canParse(url)) ? urls : undefined
}

/** A connection URL without its password, for messages. */
export function withoutPassword(text: string): string {
  return text.replace(/^([a-z]+:\/\/[^:@/]*):[^@/]*@/, '$1@').replace(/([?&]password=)[^&]*/, '$1…')
}
