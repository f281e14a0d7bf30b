import { createContext, type ReactNode, use, useState } from 'react';
import { AskReason, type Question } from './ask-reason.tsx';

const OrdersContext = createContext<((question: Question) => void) | null>(null);

/** Asks a question before an order is given. @throws when used outside of `Orders` */
export function useAsk(): (question: Question) => void {
  const ask = use(OrdersContext);
  if (ask === null) throw new Error('nothing asks questions here');
  return ask;
}

/** The one place where questions are asked: a row that vanishes under it does not take the question with it. */
export function Orders({ children }: { readonly children: ReactNode }) {
  const [question, setQuestion] = useState<Question | null>(null);
  return (
    <OrdersContext value={setQuestion}>
      {children}
      <AskReason question={question} onClose={() => setQuestion(null)} />
    </OrdersContext>
  );
}
