/** A fenced block of a Markdown document. */
export interface Block {
  /** What stands behind the fence: `sh`, `text`, … */
  readonly language: string
  /** The line of the fence in the document, from 1 on. */
  readonly line: number
  readonly lines: readonly string[]
}

/** The fenced blocks of a Markdown document, in order. */
export function documentBlocks(markdown: string): readonly Block[] {
  const blocks: Block[] = []
  let open: { readonly language: string; readonly line: number; readonly lines: string[] } | undefined
  for (const [at, text] of markdown.split('\n').entries()) {
    const fence = /^```(.*)$/.exec(text)
    if (!fence) open?.lines.push(text)
    else if (open) {
      blocks.push(open)
      open = undefined
    } else open = { language: fence[1]?.trim() ?? '', line: at + 1, lines: [] }
  }
  return blocks
}
