/** The nonce with which style elements made at run time are allowed (CodeMirror, dialogs); undefined where the page has no policy. */
export function cspNonce(): string | undefined {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content
  return nonce === undefined || nonce === '' ? undefined : nonce
}
