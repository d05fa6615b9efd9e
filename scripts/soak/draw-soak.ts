export function drawSoak(_: unknown): string {
  return ''
}
