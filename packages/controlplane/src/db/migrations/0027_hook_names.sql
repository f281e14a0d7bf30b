-- A step of the vendor is called by its place and its name (`after_install:` and 40 characters); 30 cut it in the middle.
alter table agent_commands alter column action_name type varchar(80);
