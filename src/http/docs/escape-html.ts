/** Text as it may stand in HTML, in an attribute too. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** One line of prose as HTML: backquotes mark code, everything else is literal. */
export function lineToHtml(line: string | undefined): string {
  return escapeHtml(line ?? '').replace(/`([^`]+)`/g, '<code>$1</code>')
}

/** Prose as HTML: blank lines part paragraphs, backquotes mark code; everything else is literal. */
export function proseToHtml(prose: string | undefined): string {
  if (!prose) return ''
  return prose
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${lineToHtml(paragraph)}</p>`)
    .join('')
}
