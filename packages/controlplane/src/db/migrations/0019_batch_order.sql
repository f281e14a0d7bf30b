-- BatchOrder of domain/batch-order.ts: canaries by name or selector, named batches, ramp. Null: nothing but the sizes.
alter table rollouts add column batch_order jsonb;
