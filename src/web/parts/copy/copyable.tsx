import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import styles from './copyable.module.css'

export interface CopyableProps {
  readonly text: string
  readonly label: string
}

/** A command or an address with a button that copies it. */
export function Copyable({ text, label }: CopyableProps) {
  const [isCopied, setCopied] = useState(false)
  return (
    <div className={styles.copyable}>
      <pre tabIndex={0} aria-label={label} dir="auto">
        {text}
      </pre>
      <button
        type="button"
        aria-label={`Copy: ${label}`}
        title={isCopied ? 'Copied' : 'Copy'}
        onClick={() => {
          void copy(text).then(setCopied)
          setTimeout(() => setCopied(false), 2000)
        }}
      >
        {isCopied ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
        <span className="visually-hidden" role="status">
          {isCopied ? 'Copied' : ''}
        </span>
      </button>
    </div>
  )
}

/** Whether the text was copied. Over plain http from another host a browser has no clipboard. */
async function copy(text: string): Promise<boolean> {
  const clipboard = (navigator as Partial<Navigator>).clipboard
  await clipboard?.writeText(text)
  return clipboard !== undefined
}
