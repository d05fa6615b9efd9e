import { Fold } from '../fold/fold.tsx'
import { visible } from '../diff/model/visible.ts'
import { Embed } from './embed.tsx'
import type { TemplateFormat } from '../template/template-variables.ts'
import styles from './prompt.module.css'
import { partsOf } from './template-parts.ts'

export interface PromptTextProps {
  readonly text: string
  readonly format: TemplateFormat
}

/** More of a text than this, in characters, is read among the files. */
const MOST = 200_000

/** A text of a prompt: its variables marked, what it embeds folded, what one could not see made visible. */
export function PromptText({ text, format }: PromptTextProps) {
  const rest = text.length - MOST
  return (
    <>
      <Fold
        text={rest > 0 ? text.slice(0, MOST) : text}
        lines={24}
        render={(shown) => <Parts text={shown} format={format} />}
      />
      {rest > 0 && (
        <p className={styles.from}>{rest.toLocaleString()} characters more are among the files.</p>
      )}
    </>
  )
}

function Parts({ text, format }: PromptTextProps) {
  return partsOf(text, format).map((part, at) => {
    if (part.kind === 'embed') return <Embed key={at} of={part.text} />
    if (part.kind === 'text') return <span key={at}>{visible(part.text)}</span>
    return (
      <span
        key={at}
        className={part.kind === 'variable' ? styles.variable : styles.control}
        title={part.kind === 'variable' ? 'A variable' : `${format}: it steers what is written`}
      >
        {visible(part.text)}
      </span>
    )
  })
}
